// Running statements on one of the node's pools: rows, JSON and pages, with the database's errors as problems.
import Domain
import Postgres

/// A pool as the features of the store use it.
struct Pool: Sendable {
    let client: PostgresClient
    /// Whether a statement is ended early here: what to say of one that was.
    let isForReads: Bool

    init(_ client: PostgresClient, isForReads: Bool = false) {
        self.client = client
        self.isForReads = isForReads
    }

    /// The rows of a statement.
    func rows(_ statement: Statement, _ parameters: [Parameter]) async throws -> Rows {
        do {
            return try await client.query(statement, parameters)
        } catch PostgresError.server(let error) where isForReads && error.isTimeout {
            throw Problem.readTimeout
        } catch let error as PostgresError {
            throw Problem(database: error)
        }
    }

    /// The first row of a statement that always gives one.
    func row(_ statement: Statement, _ parameters: [Parameter]) async throws -> Row {
        guard let row = try await rows(statement, parameters).first else {
            throw Problem(.internalError, "The database gave no answer.")
        }
        return row
    }

    /// A JSON text that is the only column of the only row.
    func json(_ statement: Statement, _ parameters: [Parameter]) async throws -> JSONText {
        try await decoded { try await row(statement, parameters).json(0) }
    }

    /// A list from a function with the columns (item, rank, id), which was asked for one entry more than the page holds.
    func page(_ statement: Statement, _ leading: [Parameter], _ request: PageRequest) async throws -> Page {
        let rows = try await rows(
            statement,
            leading + [
                .int4(Int32(request.limit + 1)), .int8(orNull: request.after?.rank), .uuid(orNull: request.after?.id),
            ])
        return try await decoded {
            let shown = rows.prefix(request.limit)
            let last = rows.count > request.limit ? shown.last : nil
            return Page(
                items: try shown.map { try $0.json(0) },
                next: try last.map { PageKey(rank: try $0.int8(1), id: try $0.uuid(2)) })
        }
    }
}

/// Runs a decoding; a value of an unexpected type is our own fault and shows as an internal error.
func decoded<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
        return try await body()
    } catch let error as PostgresError {
        throw Problem(database: error)
    }
}
