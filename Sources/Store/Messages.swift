// Messages and receipts: the two batched writes, and reading the archive.
import Domain
import Postgres

extension Store {
    /// What became of one message of a batch.
    package enum Appended: Sendable {
        case created(JSONText, Seq)
        /// The same message is there already; this is what is stored.
        case exists(JSONText)
        case refused(Problem)
    }

    /// Appends a batch in one transaction. `done` gets what `appended` reads, or why the call failed as a whole; whether it
    /// took effect is then unknown only after `unknownOutcome`.
    /// - Parameters:
    ///   - known: for each a seq that its thread is known to have reached, or nil: finding the head is faster then.
    ///   - node: who calls; it is not notified of these events.
    ///   - deadline: until when it may wait for the database.
    package func append(
        _ batch: [NewMessage], known: [Seq?] = [], node: String = "", by deadline: ContinuousClock.Instant? = nil,
        _ done: @escaping BatchDone
    ) {
        begin(
            Statement(
                "message_append", "select * from message_append($1, $2, $3, $4, $5, $6, $7, $8, $9, null, $10)"),
            [
                .ids(batch.map { $0.id }), .ids(batch.map { $0.thread }), .ids(batch.map { $0.sender }),
                .texts(batch.map { $0.type }), .jsons(batch.map { $0.payload.utf8 }),
                .uuids(batch.map { $0.replyTo?.uuid }),
                .texts(batch.map { Self.arrayLiteral($0.mentions) }), .int8s(known.map { $0?.value }), .text(node),
                // Spares nearly all batches the array.
                batch.contains { $0.expires != nil } ? .int4s(batch.map { $0.expires?.seconds }) : .null,
            ], by: deadline, done)
    }

    /// What became of each message of a batch, in the order given, and what the log got with it.
    package static func appended(
        _ rows: Rows, _ batch: [NewMessage]
    ) throws(BatchFailure) -> (outcomes: [Appended], written: LogPart) {
        var written = LogPart(events: [])
        written.events.reserveCapacity(batch.count)
        let outcomes = try inOrder(rows, count: batch.count) { row -> Appended in
            switch try row.text(1) {
            case "created":
                written.epoch = try row.int4(7)
                written.events.append(try event(row, in: batch[Int(try row.int4(0)) - 1].thread))
                return .created(try row.json(2), Seq(try row.int8(3)))
            case "exists": return .exists(try row.json(2))
            case "conflict":
                return .refused(
                    Problem(.idTaken, "Another message of this thread has this id. Use a new id."))
            case "no_thread": return .refused(.threadNotFound)
            case "not_joined": return .refused(.notJoined)
            case "blocked": return .refused(.notReachable)
            case "no_reply": return .refused(.invalid("reply_to", "The thread has no such message."))
            case "no_mention":
                return .refused(.invalid("mentions", "Only members of the thread can be mentioned."))
            case let other: return .refused(Problem(.internalError, "Unknown outcome \(other)."))
            }
        }
        written.events.sort { $0.position < $1.position }
        return (outcomes, written)
    }

    private static func event(_ row: Row, in thread: ThreadID) throws -> StoredEvent {
        StoredEvent(
            position: Position(try row.int8(4)), type: "message.created", thread: thread,
            at: Timestamp(microsSince1970: try row.timestamp(5)), untilDelivered: try row.boolOrNull(8) ?? false,
            body: try row.json(6))
    }

    private static func arrayLiteral(_ users: [UserID]) -> String {
        users.isEmpty ? "{}" : "{" + users.map { $0.description }.joined(separator: ",") + "}"
    }

    /// Moves marks forward, a batch in one transaction. `done` gets what `moved` reads.
    /// - Parameter deadline: until when it may wait for the database.
    package func put(
        _ batch: [ReceiptMove], by deadline: ContinuousClock.Instant? = nil, _ done: @escaping BatchDone
    ) {
        begin(
            Statement("receipt_put", "select * from receipt_put($1, $2, $3, $4, $5)"),
            [
                .ids(batch.map(\.user)), .ids(batch.map(\.thread)), .int8s(batch.map { $0.read?.value }),
                .int8s(batch.map { $0.delivered?.value }), .uuids(batch.map { $0.session?.uuid }),
            ], by: deadline, done)
    }

    /// What became of one move of a batch.
    package enum Moved: Sendable {
        /// - Parameter isUntold: the thread's other members are to hear of it by `tellReceipts`.
        case done(isUntold: Bool)
        case refused(Problem)
    }

    /// In the order given.
    package static func moved(_ rows: Rows, _ batch: [ReceiptMove]) throws(BatchFailure) -> [Moved] {
        try inOrder(rows, count: batch.count) { row in
            switch try row.text(1) {
            case "ok": .done(isUntold: try row.bool(2))
            case "no_thread": .refused(.threadNotFound)
            case "not_joined": .refused(.notJoined)
            case "past_head": .refused(.invalid("seq", "Must not be above the thread's last seq."))
            case let other: .refused(Problem(.internalError, "Unknown outcome \(other)."))
            }
        }
    }

    /// Tells the members of these threads of the marks that they haven't heard of yet, if that is due; gives the threads
    /// where it isn't. Nil: of what nobody seems to be about to tell.
    package func tellReceipts(in threads: [ThreadID]?) async throws -> [ThreadID] {
        let rows = try await rows(
            Statement("receipt_tell", "select * from receipt_tell($1)"), [threads.map { .ids($0) } ?? .null])
        return try await decoded { try rows.map { ThreadID(try $0.uuid(0)) } }
    }

    /// Notes what devices have got, a batch in one transaction.
    package func deliver(_ batch: [Delivery]) async throws {
        _ = try await rows(
            Statement("receipt_deliver", "select receipt_deliver($1, $2, $3, $4)"),
            [
                .ids(batch.map(\.user)), .uuids(batch.map { $0.thread?.uuid }),
                .int8s(batch.map { Int64?($0.position.value) }), .uuids(batch.map { $0.session?.uuid }),
            ])
    }

    /// Why a batch failed as a whole.
    package enum BatchFailure: Error {
        /// The connection broke after sending: the batch may have been committed.
        case unknownOutcome
        /// Nothing was changed, and the same batch may do better later.
        case retryable(Problem)
        /// Nothing was changed, for a reason in the data: tried in halves, all but the guilty go through.
        case data(Problem)

        package var problem: Problem {
            switch self {
            case .unknownOutcome: Problem(database: .connectionLost(wasSent: true))
            case .retryable(let problem), .data(let problem): problem
            }
        }
    }

    /// Hears once of a batch's end, on the database's I/O thread: it must not block.
    package typealias BatchDone = @Sendable (Result<Rows, BatchFailure>) -> Void

    private func begin(
        _ statement: Statement, _ parameters: [Parameter], by deadline: ContinuousClock.Instant?,
        _ done: @escaping BatchDone
    ) {
        log.client.begin(statement, parameters, by: deadline) { result in
            done(result.mapError { Self.batchFailure($0) })
        }
    }

    private static func batchFailure(_ error: any Error) -> BatchFailure {
        switch error {
        case PostgresError.connectionLost(wasSent: true): return .unknownOutcome
        case let error as PostgresError:
            let problem = Problem(database: error)
            return problem.code == .internalError ? .data(problem) : .retryable(problem)
        default: return .retryable(.stopping)
        }
    }

    /// The rows' outcomes by their first column, which counts items from 1.
    private static func inOrder<Outcome>(
        _ rows: Rows, count: Int, _ outcome: (Row) throws -> Outcome
    ) throws(BatchFailure) -> [Outcome] {
        do {
            var outcomes = [Outcome?](repeating: nil, count: count)
            for row in rows { outcomes[Int(try row.int4(0)) - 1] = try outcome(row) }
            let all = outcomes.compactMap { $0 }
            guard all.count == count else { throw PostgresError.decoding("an item without an outcome") }
            return all
        } catch {
            throw .data(Problem(.internalError, "The database returned an unexpected result for a batch: \(error)"))
        }
    }
}

extension Store {
    package func message(_ message: MessageID, in thread: ThreadID, for user: UserID) async throws -> JSONText {
        try await reads.json(
            Statement("message_get", "select message_get($1, $2, $3)"), [.id(user), .id(thread), .id(message)])
    }

    /// A page of the archive, `{messages, head, end}`.
    package func messages(
        in thread: ThreadID, for user: UserID, before: ArchiveBound?, after: ArchiveBound?, limit: Int
    ) async throws -> JSONText {
        try await reads.json(
            Statement(
                "message_page",
                "select message_page($1, $2, $3, $4, $5::timestamptz, $6, $7, $8::timestamptz, $9)"),
            [.id(user), .id(thread)] + before.parameters + after.parameters + [.int4(Int32(limit))])
    }

    /// Withdraws a message for everyone. Returns how many members the thread has.
    @discardableResult
    package func deleteMessage(_ message: MessageID, in thread: ThreadID, by user: UserID) async throws -> Int {
        let row = try await row(
            Statement("message_delete", "select message_delete($1, $2, $3), \(Self.memberCount)"),
            [.id(user), .id(thread), .id(message)])
        return try await decoded { Int(try row.int4(1)) }
    }

    /// Withdraws a message for one member alone.
    package func hideMessage(_ message: MessageID, in thread: ThreadID, from user: UserID) async throws {
        _ = try await rows(
            Statement("message_hide", "select message_hide($1, $2, $3)"), [.id(user), .id(thread), .id(message)])
    }

    /// The type of a message that `user` may edit.
    package func editableType(
        of message: MessageID, in thread: ThreadID, by user: UserID
    ) async throws -> MessageType {
        let row = try await row(
            Statement("message_type", "select message_type($1, $2, $3)"), [.id(user), .id(thread), .id(message)])
        let text = try await decoded { try row.text(0) }
        do {
            return try MessageType(text: text)
        } catch {
            throw Problem(.internalError, "A stored message has the unknown type \(text).")
        }
    }

    /// Gives a message another payload, which must be one of its type. The message as it is then.
    package func editMessage(
        _ message: MessageID, in thread: ThreadID, by user: UserID, payload: JSONText
    ) async throws -> (message: JSONText, memberCount: Int) {
        let row = try await row(
            Statement("message_edit", "select message_edit($1, $2, $3, $4), \(Self.memberCount)"),
            [.id(user), .id(thread), .id(message), .json(payload.utf8)])
        return try await decoded { (try row.json(0), Int(try row.int4(1))) }
    }

    /// Who has a message and who read it, a page by user id. In large threads a page may have fewer than `limit`, or none,
    /// and others follow: each looks at 1,000 members at most.
    package func receipts(
        of message: MessageID, in thread: ThreadID, for user: UserID, _ request: PageRequest
    ) async throws -> Page {
        try await reads.page(
            Statement("message_receipts", "select * from message_receipts($1, $2, $3, $4, $5, $6)"),
            [.id(user), .id(thread), .id(message)], request)
    }

    /// Makes a thread unread again from a message on, for this user alone. Throws `invalid` past the head.
    package func putUnread(from seq: Seq, in thread: ThreadID, by user: UserID) async throws {
        _ = try await rows(
            Statement("unread_put", "select unread_put($1, $2, $3)"), [.id(user), .id(thread), .int8(seq.value)])
    }
}

extension ArchiveBound? {
    /// As the three parameters that a bound has in SQL: seq, id, time.
    fileprivate var parameters: [Parameter] {
        switch self {
        case .none: [.null, .null, .null]
        case .seq(let seq): [.int8(seq.value), .null, .null]
        case .message(let id): [.null, .id(id), .null]
        case .time(let micros): [.null, .null, .timestamp(microsSince1970: micros)]
        }
    }
}

extension Problem {
    package static let threadNotFound = Problem(.threadNotFound, "There is no such thread, or you are not a member.")
    package static let notJoined = Problem(.notJoined, "Accept the invitation to this thread first.")
    package static let notReachable = Problem(.notReachable, "You cannot write to, invite or add this user.")
}
