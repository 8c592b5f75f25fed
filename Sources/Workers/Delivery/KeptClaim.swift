// Work under a claim that is shorter than the work.

/// Runs `body` and renews its claim meanwhile. Returns nil if the claim has ended, and throws what the renewal or `body`
/// throws; `body` is then cancelled.
///
/// - Parameter renew: returns whether the claim lasts.
package func keepingClaim<Value: Sendable>(
    renewing interval: Duration, clock: DeliveryClock, renew: @escaping @Sendable () async throws -> Bool,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value? {
    try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            repeat {
                await clock.sleep(interval)
                try Task.checkCancellation()
            } while try await renew()
            return nil
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}
