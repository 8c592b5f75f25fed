// One row of the inbox, and how the store's tables become rows.
import Foundation
internal import GRDB

/// One thread in the list of threads.
public struct InboxRow: Sendable, Equatable, Identifiable {
    /// Whether messages of this device wait for the server.
    @nonexhaustive
    public enum Unsent: Sendable, Equatable {
        /// Nothing waits.
        case none
        /// A message waits, or is being sent.
        case sending
        /// The server refused a message.
        case failed
    }

    public var id: ThreadID { thread.id }
    /// As the server has it, with the last message that this device knows and with read marks that are on their way.
    public var thread: ThreadSummary
    /// What the user began to write.
    public var draft: String?
    /// What this device has not sent yet.
    public var unsent: Unsent
    /// Of the other person in a direct thread; nil if it is unknown.
    public var peerPresence: PresenceState?

    /// Changes with everything that this row shows.
    fileprivate(set) var stamp = Stamp()

    struct Stamp: Equatable {
        var thread: Int64 = 0
        var message: Int64?
        var mark: Seq?
    }

    /// Creates a row, for example for a preview.
    public init(
        thread: ThreadSummary, draft: String? = nil, unsent: Unsent = .none, peerPresence: PresenceState? = nil
    ) {
        self.thread = thread
        self.draft = draft
        self.unsent = unsent
        self.peerPresence = peerPresence
    }
}

/// Which threads a list shows.
@nonexhaustive
public enum InboxFilter: Sendable, Hashable {
    /// Every thread.
    case all
    /// Threads that are not archived.
    case active
    /// Threads that have unread messages and are not archived.
    case unread
    /// Threads that are archived.
    case archived
}

enum InboxQuery {
    /// The rows that `filter` keeps, newest activity first. Reads the JSON only of rows that are not among `known`.
    static func rows(
        _ db: Database, _ filter: InboxFilter, known: [InboxRow], presence: [String: PresenceState]
    ) throws -> [InboxRow] {
        let before = Dictionary(known.map { ($0.id.rawValue, $0) }) { $1 }
        let userID = try db.value("user_id") ?? ""
        var result: [InboxRow] = []
        let found = try Row.fetchCursor(db.cachedStatement(sql: all))
        while let row = try found.next() {
            let read = try self.row(db, row, before: before, userID: userID, presence: presence)
            if let read, read.belongs(to: filter) { result.append(read) }
        }
        return result
    }

    /// One thread's row; nil if the device does not have the thread.
    static func row(_ db: Database, _ id: String, presence: [String: PresenceState]) throws -> InboxRow? {
        let userID = try db.value("user_id") ?? ""
        let found = try Row.fetchCursor(db.cachedStatement(sql: one), arguments: [id])
        return try found.next().flatMap { try row(db, $0, before: [:], userID: userID, presence: presence) }
    }

    /// The sum of unread messages, with the read marks that are on their way.
    static func unreadTotal(_ db: Database) throws -> Int {
        let userID = try db.value("user_id") ?? ""
        var total: Int = try db.one("select coalesce(sum(unread), 0) from thread") ?? 0
        for row in try db.rows(
            "select m.thread_id, m.read_seq, t.unread from mark m join thread t on t.id = m.thread_id")
        {
            let counts = try counts(db, row["thread_id"], after: row.seq("read_seq") ?? 0, userID: userID)
            total += (counts?.unread ?? row["unread"]) - (row["unread"] as Int)
        }
        return total
    }

    private static func row(
        _ db: Database, _ row: Row, before: [String: InboxRow], userID: String, presence: [String: PresenceState]
    ) throws -> InboxRow? {
        let id: String = row["id"]
        let stamp = InboxRow.Stamp(thread: row["version"], message: row["message_version"], mark: row.seq("read_seq"))
        var result: InboxRow
        if let known = before[id], known.stamp == stamp {
            result = known
        } else {
            guard let thread = row.decodeIfReadable(ThreadSummary.self, "data") else { return nil }
            result = InboxRow(thread: thread)
            if stamp.message != nil { result.thread.lastMessage = row.decodeIfReadable(Message.self, "message") }
            if let mark = stamp.mark, mark > result.thread.me.readSeq {
                result.thread.me.readSeq = mark
                if let counts = try counts(db, id, after: mark, userID: userID) {
                    result.thread.unreadCount = counts.unread
                    result.thread.mentionCount = counts.mentions
                }
            }
            result.stamp = stamp
        }
        result.draft = row["draft"]
        result.unsent = (row["failed"] as Bool?).map { $0 ? .failed : .sending } ?? .none
        result.peerPresence = result.thread.peer.flatMap { presence[$0.id.rawValue] }
        return result
    }

    /// The unread messages after a mark that the server has not counted yet; nil if the device does not have them all.
    private static func counts(
        _ db: Database, _ id: String, after mark: Seq, userID: String
    ) throws -> (unread: Int, mentions: Int)? {
        guard let head = try db.seq("select json_extract(data, '$.head') from thread where id = ?", [id]) else {
            return nil
        }
        if mark >= head { return (0, 0) }
        guard let first = try db.newestFirst(id, head: head), first <= mark + 1 else { return nil }
        let row = try db.row(
            """
            select count(*), count(*) filter (where instr(json_extract(data, '$.mentions'), ?2) > 0) from message
            where thread_id = ?1 and seq > ?3 and json_extract(data, '$.deleted_at') is null
                and json_extract(data, '$.sender.id') is not null and json_extract(data, '$.sender.id') <> ?2
            """, [id, userID, mark.rawValue])
        return row.map { ($0[0], $0[1]) }
    }

    private static let columns = """
        select t.id, t.data, t.version, m.data as message, m.version as message_version, d.text as draft,
            k.read_seq, (select max(o.state = 'failed') from outbox o where o.thread_id = t.id
                and o.state <> 'pending') as failed
        from thread t
        left join message m on m.thread_id = t.id and m.seq = (
            select max(x.seq) from message x where x.thread_id = t.id and x.seq >= (
                select s.first from span s where s.thread_id = t.id and s.last >= json_extract(t.data, '$.head')
                order by s.first limit 1))
        left join draft d on d.thread_id = t.id
        left join mark k on k.thread_id = t.id
        """
    private static let all = columns + " order by t.activity desc, t.id desc"
    private static let one = columns + " where t.id = ?"
}

extension InboxRow {
    fileprivate func belongs(to filter: InboxFilter) -> Bool {
        switch filter {
        case .all: true
        case .active: !thread.me.isArchived
        case .unread: !thread.me.isArchived && thread.unreadCount > 0
        case .archived: thread.me.isArchived
        }
    }
}
