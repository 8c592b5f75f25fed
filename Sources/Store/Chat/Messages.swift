// Messages: the batched append, and the history of a thread.
import Domain
import Postgres

extension Store {
    /// The outcome of one message of a batch.
    package enum Appended: Sendable {
        case created(JSONText, Seq)
        /// The same message is stored already; this is the stored one.
        case exists(JSONText)
        case refused(Problem)

        /// Whether another message, or the same one, has the id.
        package var isOfTakenID: Bool {
            switch self {
            case .created: false
            case .exists: true
            case .refused(let problem): problem.code == .idTaken
            }
        }
    }

    /// Appends a batch in one transaction. `done` gets the answer, which `appended` decodes, or why the call failed as
    /// a whole. After `unknownOutcome` the batch may have been committed.
    /// - Parameters:
    ///   - isChecked: looks whether messages with these ids are stored already. Otherwise a batch with such a message
    ///     fails with `idTaken`, and one without costs less.
    ///   - known: for each message, a seq that its thread is known to have reached, or nil: it speeds up finding the
    ///     head.
    ///   - node: the calling node, which is not notified of these events.
    ///   - deadline: until when the call may wait for the database.
    package func append(
        _ batch: [NewMessage], known: [Seq?] = [], node: String = "", isChecked: Bool = true,
        by deadline: ContinuousClock.Instant? = nil, _ done: @escaping BatchDone
    ) {
        begin(
            isChecked ? "message_append" : "message_append_new",
            [
                .ids(batch.map { $0.id }), .ids(batch.map { $0.thread }), .ids(batch.map { $0.sender }),
                .texts(batch.map { $0.type }), .jsons(batch.map { $0.payload.utf8 }),
                .uuids(batch.map { $0.replyTo?.uuid }),
                // Nearly all batches need none of the arrays that may be null.
                batch.contains { !$0.mentions.isEmpty }
                    ? .texts(batch.map { Self.arrayLiteral($0.mentions) }) : .null,
                .int8s(known.map { $0?.value }), .text(node), .null,
                batch.contains { $0.expires != nil } ? .int4s(batch.map { $0.expires?.seconds }) : .null,
                batch.contains { !$0.attachments.isEmpty }
                    ? .texts(batch.map { $0.attachments.isEmpty ? nil : Self.arrayLiteral($0.attachments) }) : .null,
            ], by: deadline, done)
    }

    /// Decodes the outcomes of a batch, in the order of the batch, and the events that were written to the log.
    package static func appended(
        _ answer: UndecodedBatch, _ batch: [NewMessage]
    ) throws(BatchFailure) -> (outcomes: [Appended], written: LogPart) {
        var written = LogPart(events: [])
        written.events.reserveCapacity(batch.count)
        let outcomes = try inOrder(answer, count: batch.count) { row -> Appended in
            switch try row.text(1) {
            case "created":
                let message = batch[Int(try row.int4(0)) - 1]
                let created = try created(row, message)
                let text =
                    row.isNull(11)
                    ? created.message(payload: message.payload.utf8)
                    : try row.withBytes(11) { created.message(payload: $0) }
                written.epoch = try row.int4(6)
                written.events.append(
                    StoredEvent(
                        position: Position(try row.int8(4)), type: "message.created", thread: message.thread,
                        at: created.at, untilDelivered: try row.boolOrNull(10) ?? false,
                        body: created.event(of: text)))
                return .created(text, created.seq)
            case "exists": return .exists(try row.json(2))
            case let outcome: return .refused(refusal(ofOutcome: outcome))
            }
        }
        written.events.sort { $0.position < $1.position }
        return (outcomes, written)
    }

    /// The problem for an outcome that stored nothing.
    static func refusal(ofOutcome outcome: String) -> Problem {
        switch outcome {
        case "conflict": Problem(.idTaken, "Another message of this thread has this id. Use a new id.")
        case "no_thread": .threadNotFound
        case "not_joined": .notJoined
        case "blocked": .notReachable
        case "no_reply": .invalid("reply_to", "The thread has no such message.")
        case "no_mention": .invalid("mentions", "Only members of the thread can be mentioned.")
        case "no_attachment":
            .invalid("payload.attachments", "Each must be the id of an attachment that you uploaded or can see.")
        case "attachment_not_ready":
            Problem(
                .attachmentNotReady,
                "An attachment is still being uploaded or checked. Retry when its state is ready.")
        case "attachment_refused":
            Problem(.attachmentRefused, "The virus scanner refused an attachment. Send the message without it.")
        default: Problem(.internalError, "Unknown outcome \(outcome).")
        }
    }

    private static func created(_ row: Row, _ message: NewMessage) throws -> CreatedMessage {
        CreatedMessage(
            id: message.id, thread: message.thread, seq: Seq(try row.int8(3)),
            sender: .init(id: message.sender, name: try row.text(7), image: try row.textOrNull(8)), type: message.type,
            replyTo: message.replyTo, mentions: message.mentions, at: Timestamp(microsSince1970: try row.timestamp(5)),
            expiresAt: row.isNull(9) ? nil : Timestamp(microsSince1970: try row.timestamp(9)))
    }

    static func arrayLiteral<Kind>(_ ids: [Identifier<Kind>]) -> String {
        ids.isEmpty ? "{}" : "{" + ids.map { $0.description }.joined(separator: ",") + "}"
    }
}

extension Store {
    package func message(_ message: MessageID, in thread: ThreadID, for user: UserID) async throws -> JSONText {
        try await reads.json("message_get", [.id(user), .id(thread), .id(message)])
    }

    /// Returns a page of the history, `{messages, head, end}`.
    package func messages(
        in thread: ThreadID, for user: UserID, before: HistoryBound?, after: HistoryBound?, limit: Int
    ) async throws -> JSONText {
        try await replica.json(
            "message_page", [.id(user), .id(thread)] + before.parameters + after.parameters + [.int(limit)])
    }

    /// Withdraws a message for everyone. Returns how many members the thread has.
    @discardableResult
    package func deleteMessage(_ message: MessageID, in thread: ThreadID, by user: UserID) async throws -> Int {
        try await row(
            ValueFunction(name: "message_delete", with: Self.memberCount),
            [.id(user), .id(thread), .id(message)]
        ) { Int(try $0.int4(1)) }
    }

    /// Withdraws a message for one member alone.
    package func hideMessage(_ message: MessageID, in thread: ThreadID, from user: UserID) async throws {
        try await call("message_hide", [.id(user), .id(thread), .id(message)])
    }

    /// Returns the type of a message that `user` may edit.
    package func editableType(
        of message: MessageID, in thread: ThreadID, by user: UserID
    ) async throws -> MessageType {
        try Self.storedType(
            await value("message_type", [.id(user), .id(thread), .id(message)]) { try $0.text(0) })
    }

    static func storedType(_ text: String) throws -> MessageType {
        do {
            return try MessageType(text: text)
        } catch {
            throw Problem(.internalError, "A stored message has the unknown type \(text).")
        }
    }

    /// Changes a message's payload, which must be one of its type. Returns the changed message.
    package func editMessage(
        _ message: MessageID, in thread: ThreadID, by user: UserID, payload: MessagePayload
    ) async throws -> (message: JSONText, memberCount: Int) {
        try await row(
            ValueFunction(name: "message_edit", with: Self.memberCount),
            [.id(user), .id(thread), .id(message), .json(payload.text.utf8), .ids(payload.attachments)]
        ) { (try $0.json(0), Int(try $0.int4(1))) }
    }

    /// Returns the earlier versions of a message, the latest first.
    package func edits(
        of message: MessageID, in thread: ThreadID, for user: UserID, _ request: PageRequest
    ) async throws -> Page {
        try await reads.page("message_edit_list", [.id(user), .id(thread), .id(message)], request)
    }
}

extension HistoryBound? {
    /// A bound's three parameters in SQL: seq, id, time.
    var parameters: [Parameter] {
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
