// Notifications from the database, as callers see them. Decisions are in `ListenerState`, actions in `ListenerLoop`.

import Logging

/// Keeps one connection listening on one channel and replaces it when it fails.
package final class PostgresListener: Sendable {
    package enum Event: Sendable, Equatable {
        /// LISTEN is active, for the first time or again. Notifications before this are lost, so read again from here.
        case connected
        case notification(payload: String)
        /// A connected connection is lost; attempts to replace it continue.
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

    /// Listens until the task is cancelled, then returns. Each connection sends itself a notification as a probe at the
    /// start and every 10 s. It is replaced when no answer arrives within 5 s.
    /// - Parameter onEvent: called on the listener's thread, one event after another, within microseconds of arrival.
    ///   It must not block: while it runs, nothing is read.
    /// - Throws: `PostgresError.unavailable` when the process cannot create a thread or descriptor.
    package func run(_ onEvent: @escaping @Sendable (Event) -> Void) async throws {
        let (settings, channel, logger, timing) = (settings, channel, logger, timing)
        try await onThread("pg-listen") { stop in
            var loop = ListenerLoop(
                settings, channel: channel, logger: logger, timing: timing, stop: stop, onEvent: onEvent)
            loop.run()
        }
    }
}
