// A thread of two people under a legal hold, and each way in which the content of a message is removed.
import Domain
import Store
import TestSupport

/// What a message goes by.
enum Removal: String, CaseIterable, Sendable {
    case edit, deletion, adminRemoval, expiry, longestRetention, delivery, erasure

    /// As held contents name it.
    var name: String {
        switch self {
        case .edit: "edited"
        case .deletion, .adminRemoval: "deleted"
        case .expiry, .longestRetention, .delivery: "expired"
        case .erasure: "erased"
        }
    }
}

/// Ann sends, Ben reads.
struct HoldDatabase: Sendable {
    static let admin = AdminActor(name: "kim", requestID: nil)

    let base: AttachmentDatabase
    let ann: UserID
    let ben: UserID
    let thread: ThreadID

    static func run(_ body: (HoldDatabase) async throws -> Void) async throws {
        try await AttachmentDatabase.run { base in
            let (ann, ben) = (try await base.user(), try await base.user())
            let thread = try await base.thread(of: ann, [ben], retention: .untilDelivered)
            // Messages of a thread that keeps them until delivery do all that others do, and are delivered besides.
            try await body(HoldDatabase(base: base, ann: ann, ben: ben, thread: thread))
        }
    }

    @discardableResult
    func sql(_ text: String) async throws -> String { try await base.sql(text) }

    @discardableResult
    func hold(_ subject: HeldSubject) async throws -> HoldID {
        let hold = HoldID.make()
        _ = try await base.store.createHold(hold, try HoldDraft(name: "Case", subject: subject), by: Self.admin)
        return hold
    }

    /// Releases a hold, and sweeps.
    func release(_ hold: HoldID) async throws {
        try await base.store.releaseHold(hold, by: Self.admin)
        while try await base.store.sweepHolds(limit: 2) {}
        try await base.sweep()
    }

    /// Removes the content of a message of Ann's.
    func remove(_ message: MessageID, by removal: Removal) async throws {
        let store = base.store
        switch removal {
        case .edit:
            let payload = AttachmentDatabase.payload([], text: "other")
            _ = try await store.editMessage(message, in: thread, by: ann, payload: payload)
        case .deletion: _ = try await store.deleteMessage(message, in: thread, by: ann)
        case .adminRemoval: try await store.removeMessage(message, in: thread, by: Self.admin)
        case .expiry:
            try await sql(
                """
                insert into message_expiries (thread_id, seq, expires_at)
                select m.thread_id, m.seq, now() from messages m where m.id = '\(message)';
                select retention_expire(10);
                """)
        case .longestRetention:
            try await sql(
                "select retention_limit(null, 100, 60, 100, now() + interval '1 hour') from generate_series(1, 9)")
        case .delivery: try await sql("select retention_settle(100, 30, now() + interval '31 days')")
        case .erasure:
            _ = try await store.eraseAccount(ann, erasesMessages: true)
            while try await store.sweepErasures(limit: 100) {}
        }
    }

    /// The held contents of messages that people sent: seq, version, removal and text of each, in the order of removal.
    func kept() async throws -> [String] {
        try await sql(
            """
            select string_agg(concat_ws(' ', seq, version, removal, payload->>'text'), ',' order by n)
            from held_contents where sender_id is not null
            """
        ).split(separator: ",").map { String($0) }
    }
}

/// What a hold of a test covers.
enum HeldSubject {
    case user(UserID)
    case thread(ThreadID)
}

extension HoldDraft {
    init(name: String, subject: HeldSubject) throws {
        let id =
            switch subject {
            case .user(let user): JSONValue.Member("user_id", .string("\(user)"))
            case .thread(let thread): JSONValue.Member("thread_id", .string("\(thread)"))
            }
        var fields = try Fields(JSONValue.object([.init("name", .string(name)), id]))
        try self.init(&fields)
    }
}
