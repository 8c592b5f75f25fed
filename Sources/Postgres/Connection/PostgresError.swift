// All ways in which a statement fails. The layers above decide what an error means to a user.

/// How a statement failed. Descriptions never show SQL, parameters or values.
package enum PostgresError: Error, Equatable {
    /// PostgreSQL refused or aborted the statement; it had no effect.
    case server(ServerError)
    /// The connection broke. If `wasSent` is false, the statement never ran; if true, it may have committed.
    case connectionLost(wasSent: Bool)
    /// No connection is possible, for this reason; the statement never ran.
    case unavailable(String)
    /// Too many statements are waiting; this one never ran.
    case poolFull
    /// No connection had room for it within `waitMax`; the statement never ran.
    case waitTimedOut
    /// A value has another type or is NULL, or a parameter is too large to send.
    case decoding(String)
    /// The client is shut down or shutting down; the statement never ran.
    case closed
}

extension PostgresError: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String {
        switch self {
        case .server(let error): error.description
        case .connectionLost(let wasSent): "database connection lost (\(wasSent ? "after" : "before") sending)"
        case .unavailable(let reason): "database unavailable: \(reason)"
        case .poolFull: "too many statements wait for the database"
        case .waitTimedOut: "no database connection had room in time"
        case .decoding(let what): "database value: \(what)"
        case .closed: "database client is shut down"
        }
    }

    package var debugDescription: String { description }
}

/// An error that PostgreSQL reported. Its text may hold users' data, so printing it shows only `sqlState` and
/// `constraint`.
package struct ServerError: Error, Equatable, Sendable {
    /// Five characters, see PostgreSQL's appendix A; Parley's functions use class `PY`.
    package let sqlState: String
    package let message: String
    package let detail: String?
    package let hint: String?
    package let constraint: String?
    /// The position in the statement's text, in characters from 1, if the server reports it.
    package let position: Int?
}

extension ServerError {
    /// `statement_timeout` expired (57014, query_canceled; nothing else cancels statements here).
    package var isTimeout: Bool { sqlState == "57014" }
}

extension ServerError: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String {
        "database error \(sqlState)" + (constraint.map { " (constraint \($0))" } ?? "")
    }

    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: ["sqlState": sqlState]) }
}
