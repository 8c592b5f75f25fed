// Threads of the load generator's own: an event loop blocks, and Swift's pool of threads must not be blocked.
import CEpoll
import Foundation

/// Runs `body` with an event loop on a thread of its own and gives its result. When the task is cancelled the loop
/// stops, now or as soon as it runs: `body` goes on after `run`, and what it gives is thrown away for the
/// `CancellationError`.
/// - Parameter name: shown by `ps -T`; at most 15 characters.
package func onEventLoop<Value: Sendable>(
    _ name: String, waker: Waker? = nil, _ body: @escaping @Sendable (EventLoop) throws -> Value
) async throws -> Value {
    let waker = try waker ?? Waker()
    let value = try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                cepoll_thread_name(name)
                continuation.resume(with: Result { try body(EventLoop(waker: waker)) })
            }
        }
    } onCancel: {
        waker.interrupt()
    }
    try Task.checkCancellation()
    return value
}

/// Each connection is an open file; systems give a process far fewer at first than it may have. What is still too few
/// shows as failures to connect.
func raiseFileLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
