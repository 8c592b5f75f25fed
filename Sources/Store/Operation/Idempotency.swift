// Requests with an `Idempotency-Key`: what creates something keeps its answer in the same transaction.
import Domain
import FoundationEssentials
import Postgres

/// A request that its sender may repeat, and that is to be done once.
package struct IdempotentRequest: Sendable {
    /// A user or an admin key. Nil for all admin tokens, which are one caller.
    package var caller: UUID?
    package var key: String
    /// A digest of the method, the path and the body.
    package var digest: [UInt8]

    package init(caller: UUID?, key: String, digest: [UInt8]) {
        self.caller = caller
        self.key = key
        self.digest = digest
    }

    private static let adminTokens = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    var parameters: [Parameter] { [.uuid(caller ?? Self.adminTokens), .text(key), .bytes(digest)] }
}

/// Thrown instead of a value if the request was done before: its answer.
package struct KeptAnswer: Error {
    package var status: Int
    package var body: JSONText
}

/// A function that creates something and returns it as JSON.
struct Creation: Query {
    let function: String
    /// The column with the JSON of a function that returns a table; its column `created` says whether the thing is new.
    /// Nil for a function that returns the JSON alone, always of something new.
    var column: String?
    /// Whether an answer about something that existed is kept as it is, because it shows no content of others. Otherwise
    /// that something is a thread, and a repeat shows it as it is then.
    var keepsExisting = false
    /// Whether the first three parameters are those of an `IdempotentRequest`.
    var isOnce = false

    init(_ function: String, column: String? = nil, keepsExisting: Bool = false) {
        (self.function, self.column, self.keepsExisting) = (function, column, keepsExisting)
    }

    var single: Creation { self }

    func statement(parameterCount: Int) -> Statement {
        let places = (1...parameterCount).map { "$\($0)" }
        let arguments = (isOnce ? places.dropFirst(3) : places[...]).joined(separator: ", ")
        let call =
            column.map { "select f.created, f.\($0) as body from \(function)(\(arguments)) f" }
            ?? "select true as created, \(function)(\(arguments)) as body"
        guard isOnce else { return Statement(function, call) }
        // A CASE evaluates the subquery only where nothing is kept.
        return Statement(
            function + " once",
            """
            select a.status, a.body, a.is_repeat
            from idempotency_claim($1, $2, $3) c
            cross join lateral idempotency_answer($1, $2, c.status, c.body, case when c.status is null then (
                select json_build_object('status', case when m.created then 201 else 200 end, 'body', m.body,
                    'is_own', \(keepsExisting ? "true" : "m.created"))
                from (\(call)) m) end) a
            """)
    }
}

extension QueryRunner {
    /// Creates something, or finds it. With `once`, throws the `KeptAnswer` of a request that was done before.
    func create(
        _ creation: Creation, once: IdempotentRequest?, _ parameters: [Parameter]
    ) async throws -> (created: Bool, body: JSONText) {
        guard let once else { return try await row(creation, parameters) { (try $0.bool(0), try $0.json(1)) } }
        var creation = creation
        creation.isOnce = true
        let answer = try await row(creation, once.parameters + parameters) {
            (status: Int(try $0.int4(0)), body: try $0.json(1), isRepeat: try $0.bool(2))
        }
        if answer.isRepeat { throw KeptAnswer(status: answer.status, body: answer.body) }
        return (answer.status == 201, answer.body)
    }
}

extension Store {
    /// Returns the answer of a request that was done before; nil for a new one. Throws `idempotency_key_reused`.
    package func keptAnswer(to request: IdempotentRequest) async throws -> KeptAnswer? {
        try await reads.row("idempotency_find", request.parameters) { row in
            guard !row.isNull(0) else { return nil }
            return KeptAnswer(status: Int(try row.int4(0)), body: try row.json(1))
        }
    }

    /// Appends a message and keeps the answer. Throws the `KeptAnswer` of a request that was done before.
    package func append(
        _ message: NewMessage, once: IdempotentRequest
    ) async throws -> (created: Bool, body: JSONText) {
        try await append(
            "message_append_once", once,
            [
                .id(message.id), .id(message.thread), .id(message.sender), .text(message.type),
                .json(message.payload), .uuid(orNull: message.replyTo?.uuid),
                .text(orNull: message.mentions.isEmpty ? nil : Self.arrayLiteral(message.mentions)),
                .int4(orNull: message.expires?.seconds),
                .text(orNull: message.attachments.isEmpty ? nil : Self.arrayLiteral(message.attachments)),
            ])
    }

    /// Appends a message by a function that keeps the answer.
    func append(
        _ function: String, _ once: IdempotentRequest, _ parameters: [Parameter]
    ) async throws -> (created: Bool, body: JSONText) {
        let (status, body, isRepeat, outcome) = try await row(function, once.parameters + parameters) { row in
            (
                row.isNull(0) ? nil : Int(try row.int4(0)), row.isNull(1) ? nil : try row.json(1), try row.bool(2),
                try row.textOrNull(3)
            )
        }
        guard let status, let body else { throw Self.refusal(ofOutcome: outcome ?? "") }
        if isRepeat { throw KeptAnswer(status: status, body: body) }
        return (status == 201, body)
    }

    /// Deletes expired keys, at most `limit`. Returns how many.
    package func sweepIdempotencyKeys(limit: Int) async throws -> Int {
        try await value("idempotency_sweep", [.int(limit)]) { Int(try $0.int4(0)) }
    }
}
