// The log lines of the code under test.
import Logging
import Synchronization

extension Logger {
    /// Drops its lines.
    package static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

/// A log handler that keeps its lines, as `warning: message [metadata]`.
package struct LogLines: LogHandler {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    package var logLevel = Logger.Level.trace
    package var metadata: Logger.Metadata = [:]
    private let lines = Lines()

    package init() {}

    package var all: [String] { lines.all.withLock { $0 } }
    /// A logger that writes to this handler.
    package var logger: Logger { Logger(label: "test", factory: { _ in self }) }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let merged = metadata.merging(event.metadata ?? [:]) { $1 }
        lines.all.withLock { $0.append("\(event.level): \(event.message) \(merged)") }
    }
}
