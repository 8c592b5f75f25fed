// Threads for work that blocks: Swift's cooperative pool must never be blocked.

import CLinux
import Glibc

/// Starts a detached thread that runs `body` once and ends. All signals but the thread's own faults are blocked in it.
/// - Parameter name: shown by `ps -T`; at most 15 characters.
package func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) throws(SystemFailure) {
    let box = Unmanaged.passRetained(ThreadBody(name: name, run: body))
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    var thread = pthread_t()
    let code = pthread_create(
        &thread, &attributes,
        { raw in
            guard let raw else { return nil }
            let body = Unmanaged<ThreadBody>.fromOpaque(raw).takeRetainedValue()
            clinux_thread_name(body.name)
            blockSignals()
            body.run()
            return nil
        }, box.toOpaque())
    guard code == 0 else {
        box.release()
        throw SystemFailure(code: code)
    }
}

private final class ThreadBody: Sendable {
    let name: String
    let run: @Sendable () -> Void

    init(name: String, run: @escaping @Sendable () -> Void) {
        self.name = name
        self.run = run
    }
}

/// Blocks signals in the calling thread, so that the threads which handle signals receive them. It also turns SIGPIPE
/// into an error of `write`: OpenSSL may write to a connection that is closed.
private func blockSignals() {
    var signals = sigset_t()
    sigfillset(&signals)
    // Faults of the thread itself. Blocked, they would end the process without a message.
    for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT] { sigdelset(&signals, fault) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
}

/// Runs `body` on a thread of its own and returns its result. Cancellation interrupts `stop`, which `body` watches
/// wherever it waits; the call returns when `body` has returned.
package func onThread<Value: Sendable>(
    _ name: String, stop: Waker, _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            do {
                try startThread(name) { continuation.resume(with: Result { try body() }) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    } onCancel: {
        stop.interrupt()
    }
}
