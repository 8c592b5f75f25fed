// A conversation with the database on a connection of its own, for what the pool is not made for: statements that take
// long, that must stand outside of transactions, or that go with a lock of the session.

import Logging

/// One connection, used by one thread that may wait. After any error other than `.server` it is of no more use.
package final class DedicatedSession {
    private let connection: BlockingConnection
    private let answerMax: Duration

    private init(_ connection: BlockingConnection, answerMax: Duration) {
        self.connection = connection
        self.answerMax = answerMax
    }

    /// Connects, runs `body` on a thread of its own, and closes the connection. A cancellation ends the wait for an
    /// answer with `closed`; a statement that was sent may then still run to its end.
    /// - Parameter settings: with its time-outs; a pooler in transaction mode must not stand between.
    /// - Parameter answerMax: how long to wait for each statement's answer.
    package static func run<Value: Sendable>(
        _ settings: PostgresSettings, answerMax: Duration, logger: Logger,
        _ body: @escaping @Sendable (DedicatedSession) throws -> Value
    ) async throws -> Value {
        do {
            return try await onThread("pg-session") { stop in
                let connection: BlockingConnection
                do throws(ConnectFailure) {
                    connection = try Dial.connect(settings, logger: logger, stop: stop)
                } catch {
                    throw error == .stopped ? PostgresError.closed : .unavailable(error.reason)
                }
                return try body(DedicatedSession(connection, answerMax: answerMax))
            }
        } catch PostgresError.closed {
            // Only cancellation stops a session.
            throw CancellationError()
        }
    }

    /// Runs one statement by itself, in no transaction but its own, if it needs one.
    package func run(_ sql: String) throws(PostgresError) {
        try connection.execute(sql, until: .now + answerMax)
    }

    package func query(_ sql: String, _ parameters: [Parameter] = []) throws(PostgresError) -> Rows {
        try connection.execute(sql, parameters, until: .now + answerMax)
    }
}
