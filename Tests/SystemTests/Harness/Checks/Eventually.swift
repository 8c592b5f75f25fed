// Bounded waiting for things without an event: a file's growth, a process's end, a health check.

/// The awaited condition did not become true in time.
struct TimedOut: Error, CustomStringConvertible {
    let description: String
}

/// Calls `body` until it returns a value. An error thrown by `body` counts as no value.
/// - Throws: `TimedOut` after `limit`, naming `what`, and the last error.
@discardableResult
func eventually<Value>(
    _ what: String, within limit: Duration = .seconds(15), every interval: Duration = .milliseconds(3),
    _ body: () async throws -> Value?
) async throws -> Value {
    let deadline = ContinuousClock.now + limit
    var reason = ""
    while true {
        do {
            if let value = try await body() { return value }
            reason = ""
        } catch {
            reason = " (\(error))"
        }
        guard ContinuousClock.now < deadline else {
            throw TimedOut(description: "\(what): not within \(limit)\(reason)")
        }
        try await Task.sleep(for: interval)
    }
}
