// Notifications from the database, as callers see them. Decisions are in `ListenerState`, actions in `ListenerLoop`.

import Logging

/// Keeps one connection listening on one channel, whatever happens to it.
package final class PostgresListener: Sendable {
    package enum Event: Sendable, Equatable {
        /// LISTEN is in force, first or anew: whatever was notified before is lost, so read again from here on.
        case connected
        case notification(payload: String)
        /// A connection that was `connected` is gone; attempts to replace it go on.
        case disconnected(reason: String)
    }

    private let settings: PostgresSettings
    private let channel: String
    private let logger: Logger
    private let timing: ListenerState.Timing

    /// - Parameter channel: exactly as in `pg_notify`, at most 63 bytes.
    package convenience init(_ settings: PostgresSettings, channel: String, logger: Logger) {
        self.init(settings, channel: channel, logger: logger, timing: ListenerState.Timing())
    }

    init(_ settings: PostgresSettings, channel: String, logger: Logger, timing: ListenerState.Timing) {
        self.settings = settings
        self.channel = channel
        self.logger = logger
        self.timing = timing
    }

    /// Listens until the task is cancelled, then returns. Each connection is probed by a notification to itself at the
    /// start and every 10 s, and replaced when no answer comes in 5 s.
    /// - Parameter onEvent: called on the listener's thread, one event after another, within microseconds of arrival.
    ///   It must neither block nor take long: while it runs, nothing is read.
    /// - Throws: `PostgresError.unavailable` when the process has no thread or descriptor to give.
    package func run(_ onEvent: @escaping @Sendable (Event) -> Void) async throws {
        let (settings, channel, logger, timing) = (settings, channel, logger, timing)
        try await onThread("pg-listen") { stop in
            var loop = ListenerLoop(
                settings, channel: channel, logger: logger, timing: timing, stop: stop, onEvent: onEvent)
            loop.run()
        }
    }
}
