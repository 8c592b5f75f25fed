// Threads for event loops: a loop blocks, and Swift's cooperative pool must not be blocked.
import Glibc
import Linux

/// Runs `body` with an event loop on a thread of its own and returns its result. Cancellation stops the loop, now or as
/// soon as it runs: `body` continues after `run`, and its result is replaced by a `CancellationError`.
/// - Parameter name: shown by `ps -T`; at most 15 characters.
package func onEventLoop<Value: Sendable>(
    _ name: String, waker: Waker? = nil, _ body: @escaping @Sendable (EventLoop) throws -> Value
) async throws -> Value {
    let waker = try waker ?? Waker()
    let value = try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            do {
                try startThread(name) { continuation.resume(with: Result { try body(EventLoop(waker: waker)) }) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    } onCancel: {
        waker.interrupt()
    }
    try Task.checkCancellation()
    return value
}

/// Raises the limit of open files to the maximum: each connection is an open file, and the default is far lower. If the
/// maximum is too low as well, connections fail.
func raiseFileLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
