// The log handler: one line per event on standard error, as text or JSON.
import Basics
internal import Domain
import Glibc
import Linux
package import Logging
import Synchronization

/// A log handler that passes each event to `write` as one complete line.
package struct LineLogHandler: LogHandler {
    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let format: Settings.LogFormat
    private let now: @Sendable () -> Timestamp
    private let write: @Sendable (String) -> Void

    /// - Parameter write: receives a line with its newline; called from any thread.
    package init(
        label: String, level: Logger.Level, format: Settings.LogFormat,
        metadataProvider: Logger.MetadataProvider? = nil,
        write: @escaping @Sendable (String) -> Void = StandardError.write
    ) {
        self.init(
            label: label, level: level, format: format, metadataProvider: metadataProvider,
            now: { Timestamp(microsSince1970: WallClock.micros) },
            write: write)
    }

    init(
        label: String, level: Logger.Level, format: Settings.LogFormat, metadataProvider: Logger.MetadataProvider?,
        now: @escaping @Sendable () -> Timestamp, write: @escaping @Sendable (String) -> Void
    ) {
        self.label = label
        self.format = format
        logLevel = level
        self.metadataProvider = metadataProvider
        self.now = now
        self.write = write
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        // Metadata nearer to the log statement wins.
        var merged = metadata
        if let provided = metadataProvider?.get() { merged.merge(provided) { $1 } }
        if let own = event.metadata { merged.merge(own) { $1 } }
        if let error = event.error { merged["error"] = "\(error)" }
        let time = now().description
        let line =
            switch format {
            case .text:
                LogLine.text(time, event.level, label, event.message, merged)
            case .json:
                LogLine.json(time, event.level, label, event.message, merged)
            }
        write(line)
    }
}

package enum LogOutput {
    /// Makes `LineLogHandler` the handler of all loggers. Call once, before the first logger is created.
    package static func bootstrap(_ settings: Settings) {
        let (level, format) = (settings.logLevel, settings.logFormat)
        LoggingSystem.bootstrap(
            { label, provider in
                LineLogHandler(label: label, level: level, format: format, metadataProvider: provider)
            }, metadataProvider: nil)
    }
}
