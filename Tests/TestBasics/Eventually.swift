// Bounded waiting for conditions without an event: a file's growth, a process's end, a counter.

/// A condition did not hold in time.
package struct TimedOut: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}

/// Calls `body` until it returns a value. An error that `body` throws counts as no value.
///
/// The limit only ends a test that fails. It is long enough for a busy machine, and a test must not rely on it.
/// - Parameters:
///   - what: what the test waits for; part of the error.
///   - interval: the pause between two calls. By default it grows from 1 ms to 20 ms.
/// - Throws: `TimedOut` after `limit`, with `what`, the caller's line and the last error of `body`.
@discardableResult
package func eventually<Value>(
    _ what: String, within limit: Duration = .seconds(30), every interval: Duration? = nil,
    isolation: isolated (any Actor)? = #isolation, file: String = #fileID, line: Int = #line,
    _ body: () async throws -> Value?
) async throws -> Value {
    let deadline = ContinuousClock.now + limit
    var pause = interval ?? .milliseconds(1)
    var reason = ""
    while true {
        // Before the call, which may itself take long: one call always begins after the deadline.
        let isLast = ContinuousClock.now >= deadline
        do {
            if let value = try await body() { return value }
            reason = ""
        } catch {
            reason = " (\(error))"
        }
        guard !isLast else { throw TimedOut(description: "\(what): not within \(limit), \(file):\(line)\(reason)") }
        try await Task.sleep(for: pause)
        if interval == nil { pause = min(pause * 2, .milliseconds(20)) }
    }
}

/// Calls `condition` until it returns true. An error that `condition` throws counts as false.
/// - Throws: `TimedOut`, as the other form.
package func eventually(
    _ what: String, within limit: Duration = .seconds(30), every interval: Duration? = nil,
    isolation: isolated (any Actor)? = #isolation, file: String = #fileID, line: Int = #line,
    _ condition: () async throws -> Bool
) async throws {
    let _: Void = try await eventually(
        what, within: limit, every: interval, isolation: isolation, file: file, line: line
    ) { try await condition() ? () : nil }
}
