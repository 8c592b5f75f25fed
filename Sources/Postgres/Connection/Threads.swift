// Threads for libpq calls that wait, with failures as `PostgresError`.

import Linux

typealias Instant = ContinuousClock.Instant

/// Runs `body`, and reports a failure of the operating system as `unavailable`.
/// - Parameter action: what fails then, after "cannot".
func systemCall<Value>(
    _ action: StaticString, _ body: () throws(SystemFailure) -> Value
) throws(PostgresError) -> Value {
    do {
        return try body()
    } catch {
        throw .unavailable("cannot \(action): \(error)")
    }
}

/// Runs `body` on a thread of its own and returns its result. Cancellation interrupts the waker, which `body` watches
/// wherever it waits; the call returns when `body` has returned.
func onThread<Value: Sendable>(
    _ name: String, _ body: @escaping @Sendable (_ stop: Waker) throws -> Value
) async throws -> Value {
    let stop = try systemCall("create an eventfd") { () throws(SystemFailure) in try Waker() }
    do {
        return try await Linux.onThread(name, stop: stop) { try body(stop) }
    } catch let failure as SystemFailure {
        throw PostgresError.unavailable("cannot start a thread: \(failure)")
    }
}
