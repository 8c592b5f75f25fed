// The one door for blocking work of this target: file-system calls and waits for processes.
// Nothing else here may block the cooperative pool.

import Dispatch

package enum Blocking {
    /// Runs `body` on a thread outside the cooperative pool and waits for it without blocking. Not cancellable: `body`
    /// is expected to be bounded. A queue of its own per call: these are rare, and none may wait behind another.
    package static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            thread { continuation.resume(with: Result(catching: body)) }
        }
    }

    /// Runs `body` on a thread that is its alone until it returns, however long that takes.
    package static func thread(_ body: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "parley.blocking").async(execute: body)
    }
}
