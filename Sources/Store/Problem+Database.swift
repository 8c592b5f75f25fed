// Translates failures of the database into problems. RateLimits.swift handles the refusals by rate limits.
import Domain
import Postgres

extension Problem {
    /// 503. PostgreSQL cancelled the statement. Retrying soon would most likely end the same way.
    static let readTimeout = Problem(
        .overloaded, "The database did not finish this read in time. Ask for a smaller page, or retry later.",
        retryAfterS: 5)

    /// Translates a failure of the database for the caller of the API.
    package init(database error: PostgresError) {
        switch error {
        case .server(let error):
            self.init(server: error)
        case .connectionLost, .unavailable, .closed:
            self = .databaseUnavailable
        case .poolFull, .waitTimedOut:
            self = .busy
        case .decoding(let what):
            self.init(.internalError, "The database returned an unexpected value: \(what)")
        }
    }

    private init(server error: ServerError) {
        // Class PY belongs to Parley's functions: the message is the problem's code; for a 422 the hint is the field.
        if error.sqlState.hasPrefix("PY"), let code = ProblemCode(rawValue: error.message) {
            let detail = error.detail ?? ""
            self = code == .invalid ? .invalid(error.hint ?? "", detail) : Problem(code, detail)
            return
        }
        switch error.sqlState {
        // Lock not available, statement timeout, idle in transaction, deadlock, serialization: a retry may succeed.
        case "55P03", "57014", "25P03", "40P01", "40001":
            self = .busy
        // A surge has filled the log's last partition, and the next is being made. Our own constraints have names.
        case "23514" where error.constraint == nil:
            self = .busy
        // Insufficient resources (disk full, out of memory, too many connections), operator intervention, I/O error,
        // a read-only server (the address still points at a standby).
        case let state
        where state.hasPrefix("53") || state.hasPrefix("57") || state.hasPrefix("58") || state == "25006":
            self = .databaseUnavailable
            retryAfterS = 2
        default:
            self.init(.internalError, "The database failed with SQLSTATE \(error.sqlState)")
        }
    }
}
