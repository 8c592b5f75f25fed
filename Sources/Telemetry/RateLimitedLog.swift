// Log lines of things that may happen a thousand times a second.
import Logging
import Synchronization

/// Logs a message with its reason at most once a minute. Each line says how often it happened since the line before.
/// Different reasons have lines of their own. From any thread.
package final class RateLimitedLog: Sendable {
    private let logger: Logger
    private let metadata: Logger.Metadata
    private let repetitions = Mutex(Repetitions())

    /// - Parameter metadata: added to each line.
    package init(_ logger: Logger, metadata: Logger.Metadata = [:]) {
        self.logger = logger
        self.metadata = metadata
    }

    package func info(_ message: Logger.Message, reason: String? = nil) { log(.info, message, reason) }
    package func warning(_ message: Logger.Message, reason: String? = nil) { log(.warning, message, reason) }
    package func error(_ message: Logger.Message, reason: String? = nil) { log(.error, message, reason) }

    private func log(_ level: Logger.Level, _ message: Logger.Message, _ reason: String?) {
        let key = "\(message) \(reason ?? "")"
        guard let count = repetitions.withLock({ $0.add(key, now: .now) }) else { return }
        var metadata = metadata
        metadata["count"] = "\(count)"
        if let reason { metadata["reason"] = "\(reason)" }
        logger.log(level: level, message, metadata: metadata)
    }
}

/// The lines that were logged within the last minute. Pure: the time is a parameter.
struct Repetitions {
    typealias Instant = ContinuousClock.Instant

    static let interval = Duration.seconds(60)
    /// Reasons may hold changing numbers. Past this count all entries are dropped, so memory stays bounded.
    static let keyCountMax = 100

    private var entries: [String: (loggedAt: Instant, unloggedCount: Int)] = [:]

    /// Returns how often it happened since it was last logged, this time included, or nil if it is not to be logged
    /// now.
    mutating func add(_ key: String, now: Instant) -> Int? {
        if let entry = entries[key], now - entry.loggedAt < Self.interval {
            entries[key] = (entry.loggedAt, entry.unloggedCount + 1)
            return nil
        }
        let count = (entries[key]?.unloggedCount ?? 0) + 1
        if entries.count >= Self.keyCountMax, entries[key] == nil { entries = [:] }
        entries[key] = (now, 0)
        return count
    }
}
