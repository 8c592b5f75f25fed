// The one loop of the background workers: run a step, wait, run the next one, and retry what fails.
import Logging
import Telemetry

/// Repeats a step until its task is cancelled. A step that throws is counted, logged once a minute for the same reason,
/// and retried. Cancellation ends the loop at once; it is neither counted nor logged.
package struct Worker: Sendable {
    /// The work that a step leaves.
    package enum Progress: Sendable, Equatable {
        /// There may be more: the next step runs at once.
        case more
        /// There is nothing to do now: the next step runs at the next tick of the worker's interval.
        case idle
        /// The next step runs after this time.
        case pause(Duration)
    }

    /// Steps and other calls that failed.
    package let failures: Counter
    private let operation: String
    private let interval: Duration
    /// The pause between a failure and the next try.
    package let retryAfter: Duration
    private let log: RateLimitedLog

    /// - Parameters:
    ///   - operation: what the worker does, as "planning alerts": log lines begin with it.
    ///   - interval: between steps that find nothing to do.
    ///   - retryAfter: between a failure and the next try.
    package init(
        _ operation: String, every interval: Duration = Ticker.interval, retryAfter: Duration = .seconds(2),
        failures: Counter = Counter(), logger: Logger
    ) {
        self.operation = operation
        self.interval = interval
        self.retryAfter = retryAfter
        self.failures = failures
        log = RateLimitedLog(logger)
    }

    /// Runs `step` again and again until cancelled.
    package func run(_ step: () async throws -> Progress) async throws {
        while true {
            try Task.checkCancellation()
            switch try await attempt(step) {
            case .more: break
            case .idle: try await Ticker.sleep(interval)
            case .pause(let time): try await Task.sleep(for: time)
            case nil: try await Task.sleep(for: retryAfter)
            }
        }
    }

    /// Runs `body` until it succeeds: for work that must not be lost, such as items already removed from a queue.
    package func retry<Value>(_ body: () async throws -> Value) async throws -> Value {
        while true {
            if let value = try await attempt(body) { return value }
            try await Task.sleep(for: retryAfter)
        }
    }

    /// Runs `body` once. Returns nil if it failed, which is counted and logged; the caller retries. Throws only
    /// `CancellationError`.
    package func attempt<Value>(_ body: () async throws -> Value) async throws(CancellationError) -> Value? {
        do {
            return try await body()
        } catch {
            // The task's own state decides. A call that the cancellation cut short may fail with another error, and a
            // library may throw CancellationError for reasons of its own, which must not end the node.
            if Task.isCancelled { throw CancellationError() }
            failed(error)
            return nil
        }
    }

    /// Counts and logs a failure of a call that the caller retries.
    package func failed(_ error: any Error) {
        failures.add()
        log.warning("\(operation) failed; retrying in \(retryAfter.shortText)", reason: "\(error)")
    }
}

extension Duration {
    /// `2 s`, `250 ms`.
    var shortText: String {
        let milliseconds = Int(self / .milliseconds(1))
        return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
    }
}
