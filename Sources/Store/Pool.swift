// Running statements on one of the node's pools: rows, JSON and pages. Errors of the database become problems.
import Domain
import Postgres

/// A pool as the features of the store use it.
struct Pool: Sendable {
    let client: PostgresClient
    /// Whether statements end after the read timeout; then the error advises to ask for less.
    let isForReads: Bool

    init(_ client: PostgresClient, isForReads: Bool = false) {
        self.client = client
        self.isForReads = isForReads
    }

    /// Returns the rows of a statement.
    func rows(_ statement: Statement, _ parameters: [Parameter]) async throws -> Rows {
        do {
            return try await client.query(statement, parameters)
        } catch PostgresError.server(let error) where isForReads && error.isTimeout {
            throw Problem.readTimeout
        } catch let error as PostgresError {
            throw Problem(database: error)
        }
    }

    /// Runs a statement to its end even if the task is cancelled, because nobody else knows of a claim, or of an outcome.
    func finished(_ statement: Statement, _ parameters: [Parameter]) async throws -> Rows {
        let result = await withCheckedContinuation { continuation in
            client.begin(statement, parameters) { continuation.resume(returning: $0) }
        }
        return try await decoded { try result.get() }
    }

    /// Returns the first row of a statement that always returns one.
    func row(_ statement: Statement, _ parameters: [Parameter]) async throws -> Row {
        guard let row = try await rows(statement, parameters).first else {
            throw Problem(.internalError, "The database returned no row.")
        }
        return row
    }

    /// Returns a JSON text that is the only column of the only row.
    func json(_ statement: Statement, _ parameters: [Parameter]) async throws -> JSONText {
        try await decoded { try await row(statement, parameters).json(0) }
    }

    /// Returns a page of a list. The function's parameters are `leading`, the number of rows, the key of the previous
    /// page, and `trailing`. It returns rows (item, rank, id), one more than the page holds if there are more. A row
    /// without an item is the last one: the function looked no further, and the next page begins there. The page ends
    /// before `Page.byteCountMax`, but has at least one item.
    func page(
        _ statement: Statement, _ leading: [Parameter], _ request: PageRequest, trailing: [Parameter] = []
    ) async throws -> Page {
        let rows = try await rows(
            statement,
            leading + [
                .int4(Int32(request.limit + 1)), .int8(orNull: request.after?.boundedRank),
                .uuid(orNull: request.after?.id),
            ] + trailing)
        return try await decoded {
            var (items, byteCount): ([JSONText], Int) = ([], 0)
            var last: PageKey?
            for row in rows {
                let key = PageKey(rank: try row.int8(1), id: try row.uuid(2))
                if row.isNull(0) { return Page(items: items, next: key) }
                let item = try row.json(0)
                byteCount += item.utf8.count + 1
                if items.count == request.limit || (byteCount > Page.byteCountMax && !items.isEmpty) {
                    return Page(items: items, next: last)
                }
                items.append(item)
                last = key
            }
            return Page(items: items, next: nil)
        }
    }
}

/// Runs a decoding. A value of an unexpected type is Parley's own fault, and becomes an internal error.
func decoded<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
        return try await body()
    } catch let error as PostgresError {
        throw Problem(database: error)
    }
}
