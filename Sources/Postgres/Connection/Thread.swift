// Threads of our own, for libpq calls that wait: the cooperative pool must never be blocked.

import CLibpq
import Glibc
import Synchronization

/// Starts a detached thread that runs `body` once and ends.
/// - Parameter name: shown by `ps -T`; at most 15 characters.
func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) throws(PostgresError) {
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
            parley_thread_name(body.name)
            // Signals are for the threads that know what to do with them.
            var signals = sigset_t()
            sigfillset(&signals)
            // These are the thread's own faults; blocked, they would end the process without a word.
            for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT] { sigdelset(&signals, fault) }
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            body.run()
            return nil
        }, box.toOpaque())
    guard code == 0 else {
        box.release()
        throw .unavailable("no thread could be started (error \(code))")
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

/// Runs `body` on a thread of its own and gives its result. Cancellation signals `stop`, which `body` heeds wherever
/// it waits; the call returns when `body` has.
func onThread<Value: Sendable>(
    _ name: String, _ body: @escaping @Sendable (_ stop: Waker) throws -> Value
) async throws -> Value {
    let stop = try Waker()
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            do {
                try startThread(name) { continuation.resume(with: Result { try body(stop) }) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    } onCancel: {
        stop.wake()
    }
}

/// An eventfd. Whoever holds it can wake a thread that waits for it, also after that thread has ended.
final class Waker: Sendable {
    let descriptor: CInt

    init() throws(PostgresError) {
        descriptor = parley_eventfd_create()
        guard descriptor >= 0 else { throw .unavailable("no eventfd (error \(errno))") }
    }

    deinit { close(descriptor) }

    /// Makes the descriptor readable. Nobody reads it: one who uses it for more than stopping watches its edges.
    func wake() { eventfd_write(descriptor, 1) }

    /// True from the first `wake` on.
    var isAwake: Bool { wait(for: descriptor, CInt(POLLIN), stop: nil, until: .now) == .ready }
}

enum WaitOutcome { case ready, stopped, timedOut }

/// Blocks until the descriptor is ready, or `stop` was woken, or the deadline passed.
func wait(for descriptor: CInt, _ events: CInt, stop: Waker?, until deadline: Instant?) -> WaitOutcome {
    var descriptors = [
        pollfd(fd: descriptor, events: Int16(events), revents: 0),
        pollfd(fd: stop?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    while true {
        let count = poll(&descriptors, nfds_t(descriptors.count), milliseconds(until: deadline))
        if count > 0 {
            return descriptors[1].revents != 0 ? .stopped : .ready
        }
        // An interrupted wait is no event; the deadline is looked at again.
        if let deadline, deadline <= .now { return .timedOut }
    }
}

typealias Instant = ContinuousClock.Instant

/// For `poll` and `epoll_wait`: rounded up, so that the deadline has passed on waking; -1 waits for ever.
func milliseconds(until deadline: Instant?) -> CInt {
    guard let deadline else { return -1 }
    let (seconds, attoseconds) = (deadline - .now).components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    guard seconds < 1_000_000 else { return 1_000_000_000 }
    return CInt(seconds) * 1000 + CInt((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
}
