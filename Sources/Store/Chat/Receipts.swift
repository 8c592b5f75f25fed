// Receipts: marks that say how far members have received and read a thread.
import Domain
import Postgres

extension Store {
    /// Moves marks forward, a batch in one transaction. `done` gets the answer, which `moved` decodes.
    /// - Parameter deadline: until when the call may wait for the database.
    package func put(
        _ batch: [ReceiptMove], by deadline: ContinuousClock.Instant? = nil, _ done: @escaping BatchDone
    ) {
        begin(
            "receipt_put",
            [
                .ids(batch.map(\.user)), .ids(batch.map(\.thread)), .int8s(batch.map { $0.read?.value }),
                .int8s(batch.map { $0.delivered?.value }), .uuids(batch.map { $0.session?.uuid }),
            ], by: deadline, done)
    }

    /// The outcome of one move of a batch.
    package enum Moved: Sendable {
        /// - Parameter isUnpublished: `publishReceipts` has yet to publish the mark to the thread's other members.
        case done(isUnpublished: Bool)
        case refused(Problem)
    }

    /// Decodes the outcomes of a batch, in the order of the batch.
    package static func moved(_ answer: UndecodedBatch, _ batch: [ReceiptMove]) throws(BatchFailure) -> [Moved] {
        try inOrder(answer, count: batch.count) { row in
            switch try row.text(1) {
            case "ok": .done(isUnpublished: try row.bool(2))
            case "no_thread": .refused(.threadNotFound)
            case "not_joined": .refused(.notJoined)
            case "past_head": .refused(.invalid("seq", "Must not be above the thread's last seq."))
            case let other: .refused(Problem(.internalError, "Unknown outcome \(other)."))
            }
        }
    }

    /// Publishes the unpublished marks of these threads to their members, where that is due. Returns the threads where
    /// it is not. Nil: publishes marks that no node seems to publish.
    package func publishReceipts(in threads: [ThreadID]?) async throws -> [ThreadID] {
        try await rows("receipt_publish", [threads.map { .ids($0) } ?? .null]) { ThreadID(try $0.uuid(0)) }
    }

    /// Records what devices have received, a batch in one transaction.
    package func deliver(_ batch: [Delivery]) async throws {
        try await call(
            "receipt_deliver",
            [
                .ids(batch.map(\.user)), .uuids(batch.map { $0.thread?.uuid }),
                .int8s(batch.map { Int64?($0.position.value) }), .uuids(batch.map { $0.session?.uuid }),
            ])
    }

    /// Returns who has received and read a message, a page by user id. In large threads a page may have fewer items
    /// than `limit`, or none, although others follow: each page looks at 1,000 members at most.
    package func receipts(
        of message: MessageID, in thread: ThreadID, for user: UserID, _ request: PageRequest
    ) async throws -> Page {
        try await reads.page("message_receipts", [.id(user), .id(thread), .id(message)], request)
    }

    /// Marks a thread unread from a message on, for this user alone. Throws `invalid` past the head.
    package func putUnread(from seq: Seq, in thread: ThreadID, by user: UserID) async throws {
        try await call("unread_put", [.id(user), .id(thread), .int8(seq.value)])
    }
}
