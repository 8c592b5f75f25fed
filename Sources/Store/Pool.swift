// Calling functions and running statements on one of the node's pools. Errors of the database become problems.
import Domain
import Postgres

/// What is run: a statement, or a function by its name, which is called with all the parameters and returns a table.
protocol Query: Sendable {
    associatedtype Single: Query
    /// The same for a function that returns one value.
    var single: Single { get }
    func statement(parameterCount: Int) -> Statement
}

extension Statement: Query {
    var single: Statement { self }
    func statement(parameterCount: Int) -> Statement { self }
}

extension String: Query {
    var single: ValueFunction { ValueFunction(name: self) }

    func statement(parameterCount: Int) -> Statement {
        Statement(self, "select * from " + call(parameterCount))
    }

    fileprivate func call(_ parameterCount: Int) -> String { "\(self)(\(Self.placeholders[parameterCount]))" }

    /// The text of no to 40 parameters.
    private static let placeholders = (0...40).map { count in
        (0..<count).map { "$\($0 + 1)" }.joined(separator: ", ")
    }
}

/// A function that returns one value or nothing. As a table it would cost PostgreSQL some 20 µs more.
struct ValueFunction: Query {
    let name: String
    /// An expression that is a second column, and may name the parameters.
    var with: String?

    var single: ValueFunction { self }

    func statement(parameterCount: Int) -> Statement {
        Statement(name, "select " + name.call(parameterCount) + (with.map { ", " + $0 } ?? ""))
    }
}

/// What runs queries: a pool, or the store, which uses its pool for changes. Errors are problems.
protocol QueryRunner: Sendable {
    func rows(_ query: some Query, _ parameters: [Parameter]) async throws -> Rows
}

extension QueryRunner {
    /// Calls a function that returns nothing.
    func call(_ function: String, _ parameters: [Parameter]) async throws {
        _ = try await rows(function.single, parameters)
    }

    /// Returns all rows, decoded.
    func rows<Value>(
        _ query: some Query, _ parameters: [Parameter], _ decode: (Row) throws -> Value
    ) async throws -> [Value] {
        let rows = try await rows(query, parameters)
        return try await decoded { try rows.map(decode) }
    }

    /// Returns the first row, decoded; nil without one.
    func firstRow<Value>(
        _ query: some Query, _ parameters: [Parameter], _ decode: (Row) throws -> Value
    ) async throws -> Value? {
        let rows = try await rows(query, parameters)
        return try await decoded { try rows.first.map(decode) }
    }

    /// Returns the first row of a query that always returns one.
    func row(_ query: some Query, _ parameters: [Parameter]) async throws -> Row {
        try await rows(query, parameters).only()
    }

    /// Returns the same, decoded.
    func row<Value>(
        _ query: some Query, _ parameters: [Parameter], _ decode: (Row) throws -> Value
    ) async throws -> Value {
        let row = try await row(query, parameters)
        return try await decoded { try decode(row) }
    }

    /// Returns what a function returns that returns one value: the only column of the row.
    func value<Value>(
        _ query: some Query, _ parameters: [Parameter], _ decode: (Row) throws -> Value
    ) async throws -> Value {
        try await row(query.single, parameters, decode)
    }

    /// Returns a JSON text as such a value.
    func json(_ query: some Query, _ parameters: [Parameter]) async throws -> JSONText {
        try await value(query, parameters) { try $0.json(0) }
    }

    /// Returns a page of a list. The function's parameters are `leading`, the number of rows, the key of the previous
    /// page, and `trailing`. It returns rows (item, rank, id), one more than the page holds if there are more. A row
    /// without an item is the last one: the function looked no further, and the next page begins there. The page ends
    /// before `Page.byteCountMax`, but has at least one item.
    func page(
        _ query: some Query, _ leading: [Parameter], _ request: PageRequest, trailing: [Parameter] = []
    ) async throws -> Page {
        let rows = try await rows(
            query,
            leading + [
                .int(request.limit + 1), .int8(orNull: request.after?.boundedRank),
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

/// A pool as the features of the store use it.
struct Pool: QueryRunner {
    let client: PostgresClient
    /// Whether statements end after the read timeout; then the error advises to ask for less.
    let isForReads: Bool

    init(_ client: PostgresClient, isForReads: Bool = false) {
        self.client = client
        self.isForReads = isForReads
    }

    func rows(_ query: some Query, _ parameters: [Parameter]) async throws -> Rows {
        do {
            return try await client.query(query.statement(parameterCount: parameters.count), parameters)
        } catch let error as PostgresError {
            throw problem(error)
        }
    }

    /// Returns what the caller of the API is told about a failure.
    func problem(_ error: PostgresError) -> Problem {
        if isForReads, case .server(let error) = error, error.isTimeout { return .readTimeout }
        return Problem(database: error)
    }
}

/// Runs queries to their end even if the task is cancelled, because nobody else knows of a claim, or of an outcome.
struct FinishingRunner: QueryRunner {
    let client: PostgresClient

    func rows(_ query: some Query, _ parameters: [Parameter]) async throws -> Rows {
        let result = await withCheckedContinuation { continuation in
            client.begin(query.statement(parameterCount: parameters.count), parameters) {
                continuation.resume(returning: $0)
            }
        }
        return try await decoded { try result.get() }
    }
}

extension Rows {
    /// Returns the first row of a query that always returns one.
    func only() throws -> Row {
        guard let row = first else { throw Problem(.internalError, "The database returned no row.") }
        return row
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
