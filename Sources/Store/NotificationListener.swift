// Notifications of the database, for the layers above.
import Logging
import Postgres

/// Listens on one channel, on a connection of its own that is replaced when it breaks.
package struct NotificationListener: Sendable {
    package enum Event: Sendable, Equatable {
        /// LISTEN is in force, for the first time or again. Notifications before this event may be lost: read from here
        /// on.
        case connected
        case notification(payload: String)
        /// A connection that was `connected` has broken. The listener keeps trying to replace it.
        case disconnected(reason: String)
    }

    private let listener: PostgresListener

    /// - Parameters:
    ///   - settings: leading directly to PostgreSQL: a transaction pooler ignores LISTEN.
    ///   - channel: exactly as in `pg_notify`, at most 63 bytes.
    package init(_ settings: PostgresSettings, channel: String, logger: Logger) {
        listener = PostgresListener(settings, channel: channel, logger: logger)
    }

    /// Listens until the task is cancelled, then returns.
    /// - Parameter onEvent: called on the listener's thread, one event after another. It must not block.
    /// - Throws: `PostgresError.unavailable` when the process has no thread or descriptor left.
    package func run(_ onEvent: @escaping @Sendable (Event) -> Void) async throws {
        try await listener.run { onEvent(Event($0)) }
    }
}

extension NotificationListener.Event {
    fileprivate init(_ event: PostgresListener.Event) {
        switch event {
        case .connected: self = .connected
        case .notification(let payload): self = .notification(payload: payload)
        case .disconnected(let reason): self = .disconnected(reason: reason)
        }
    }
}
