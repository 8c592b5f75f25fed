// The database as the rest of the service sees it: one method a SQL function, in one file a feature beside this one.
// SQLSTATEs and outages become `Problem`s here and nowhere else.
import Domain
import FoundationEssentials
import Postgres

/// Calls the database's functions. Every method throws `Problem` or `CancellationError` and nothing else.
/// A method that changes something is one function call, which commits or fails whole.
package struct Store: Sendable {
    /// See `DatabasePools` for what each is for.
    let log: Pool
    let changes: Pool
    let reads: Pool

    package init(_ pools: DatabasePools) {
        log = Pool(pools.log)
        changes = Pool(pools.changes)
        reads = Pool(pools.reads, isForReads: true)
    }

    /// With one pool for everything: for commands that call the database a few times, and for tests.
    package init(_ client: PostgresClient) {
        log = Pool(client)
        changes = Pool(client)
        reads = Pool(client, isForReads: true)
    }

    // A statement that names no pool is a change: a missing `reads` makes a read slower to give up, and nothing worse.

    func rows(_ statement: Statement, _ parameters: [Parameter]) async throws -> Rows {
        try await changes.rows(statement, parameters)
    }

    func row(_ statement: Statement, _ parameters: [Parameter]) async throws -> Row {
        try await changes.row(statement, parameters)
    }

    func json(_ statement: Statement, _ parameters: [Parameter]) async throws -> JSONText {
        try await changes.json(statement, parameters)
    }
}

extension Problem {
    /// 503. The statement was ended; asking for the same again soon would most likely end the same way.
    static let readTimeout = Problem(
        .overloaded, "The database did not finish this read in time. Ask for a smaller page, or retry later.",
        retryAfterS: 5)

    /// What a failure of the database means to the caller of the API.
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
        // Class PY is our functions' own: the message is a code of the contract, the hint with 422 the field.
        if error.sqlState.hasPrefix("PY"), let code = ProblemCode(rawValue: error.message) {
            let detail = error.detail ?? ""
            self = code == .invalid ? .invalid(error.hint ?? "", detail) : Problem(code, detail)
            return
        }
        switch error.sqlState {
        // Lock not available, statement timeout, idle in transaction, deadlock, serialization: another try may do.
        case "55P03", "57014", "25P03", "40P01", "40001":
            self = .busy
        // No partition of the log ahead, in a surge: one is about to be made. (Constraints of ours have names.)
        case "23514" where error.constraint == nil:
            self = .busy
        // Insufficient resources (disk full, out of memory, too many connections), operator intervention, I/O error,
        // a read-only server (a standby that the address still points at).
        case let state
        where state.hasPrefix("53") || state.hasPrefix("57") || state.hasPrefix("58") || state == "25006":
            self = .databaseUnavailable
            retryAfterS = 2
        default:
            self.init(.internalError, "The database failed with SQLSTATE \(error.sqlState)")
        }
    }
}

extension Row {
    func json(_ column: Int) throws -> JSONText { JSONText(utf8: try bytes(column)) }
}

extension Parameter {
    static func text(orNull text: String?) -> Parameter { text.map(Parameter.text) ?? .null }
    static func int4(orNull value: Int32?) -> Parameter { value.map(Parameter.int4) ?? .null }
    static func int8(orNull value: Int64?) -> Parameter { value.map(Parameter.int8) ?? .null }
    static func uuid(orNull uuid: UUID?) -> Parameter { uuid.map(Parameter.uuid) ?? .null }
    static func id<Kind>(_ id: Identifier<Kind>) -> Parameter { .uuid(id.uuid) }
    static func ids<Kind>(_ ids: [Identifier<Kind>]) -> Parameter { .uuids(ids.map(\.uuid)) }
    static func json(_ text: JSONText) -> Parameter { .json(text.utf8) }
}
