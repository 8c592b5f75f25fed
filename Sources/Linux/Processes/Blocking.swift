// Runs blocking work (file-system calls, waits for processes) outside the cooperative pool.

import Dispatch

package enum Blocking {
    /// Runs `body` on a thread outside the cooperative pool and suspends until it returns. Not cancellable, so `body`
    /// must be bounded. Each call has its own queue: calls are rare, and none may wait behind another.
    package static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            thread { continuation.resume(with: Result(catching: body)) }
        }
    }

    /// Runs `body` on a thread of its own for as long as it takes.
    package static func thread(_ body: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "parley.blocking").async(execute: body)
    }
}
