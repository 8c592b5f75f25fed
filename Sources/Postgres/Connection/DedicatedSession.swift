// A session on a connection of its own, for statements that the pool does not suit: long ones, those outside
// transactions, and those that need a session lock.

import Logging

/// One connection, used by one thread that may block. After any error other than `.server` it is unusable.
package final class DedicatedSession {
    private let connection: BlockingConnection
    private let answerMax: Duration

    private init(_ connection: BlockingConnection, answerMax: Duration) {
        self.connection = connection
        self.answerMax = answerMax
    }

    /// Connects, runs `body` on a thread of its own, and closes the connection. On cancellation the wait for an answer
    /// throws `closed` in `body`, and this throws `CancellationError`. A statement that was sent may still run to its
    /// end.
    /// - Parameters:
    ///   - settings: their timeouts apply. They must not lead to a pooler in transaction mode.
    ///   - answerMax: how long to wait for the answer to each statement.
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

    /// Runs one statement outside any explicit transaction.
    package func run(_ sql: String) throws(PostgresError) {
        try connection.execute(sql, until: .now + answerMax)
    }

    package func query(_ sql: String, _ parameters: [Parameter] = []) throws(PostgresError) -> Rows {
        try connection.execute(sql, parameters, until: .now + answerMax)
    }
}
