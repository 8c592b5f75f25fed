// Threads of the load generator's own: an event loop blocks, and Swift's pool of threads must not be blocked.
import Foundation

/// Runs `body` on a thread of its own and gives its result. Not cut short by cancellation.
/// - Parameter name: shown by `ps -T`; at most 15 characters.
package func onThread<Value: Sendable>(
    _ name: String, _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        let thread = Thread {
            continuation.resume(with: Result(catching: body))
        }
        thread.name = name
        thread.start()
    }
}

/// Each connection is an open file; systems give a process far fewer at first than it may have. What is still too few
/// shows as failures to connect.
func raiseFileLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
