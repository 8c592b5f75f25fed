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
    }

    /// Appends a batch in one transaction. `done` gets the answer, which `appended` decodes, or why the call failed as
    /// a whole. After `unknownOutcome` the batch may have been committed.
    /// - Parameters:
    ///   - known: for each message, a seq that its thread is known to have reached, or nil: it speeds up finding the
    ///     head.
    ///   - node: the calling node, which is not notified of these events.
    ///   - deadline: until when the call may wait for the database.
    package func append(
        _ batch: [NewMessage], known: [Seq?] = [], node: String = "", by deadline: ContinuousClock.Instant? = nil,
        _ done: @escaping BatchDone
    ) {
        begin(
            "message_append",
            [
                .ids(batch.map { $0.id }), .ids(batch.map { $0.thread }), .ids(batch.map { $0.sender }),
                .texts(batch.map { $0.type }), .jsons(batch.map { $0.payload.utf8 }),
                .uuids(batch.map { $0.replyTo?.uuid }),
                .texts(batch.map { Self.arrayLiteral($0.mentions) }), .int8s(known.map { $0?.value }), .text(node),
                .null,
                // Nearly all batches need neither array, so they send null.
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
            case "no_attachment":
                return .refused(
                    .invalid(
                        "payload.attachments", "Each must be the id of an attachment that you uploaded or can see."))
            case "attachment_not_ready":
                return .refused(
                    Problem(
                        .attachmentNotReady,
                        "An attachment is still being uploaded or checked. Retry when its state is ready."))
            case "attachment_refused":
                return .refused(
                    Problem(.attachmentRefused, "The virus scanner refused an attachment. Send the message without it.")
                )
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
        try await reads.json(
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
        let text = try await value("message_type", [.id(user), .id(thread), .id(message)]) { try $0.text(0) }
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
}

extension HistoryBound? {
    /// A bound's three parameters in SQL: seq, id, time.
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
