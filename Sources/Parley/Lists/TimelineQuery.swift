// Turns the store's tables into the rows of a timeline.
import Foundation
internal import GRDB

/// What a timeline needs to know of its thread.
struct ThreadFacts: Sendable {
    let head: Seq
    let firstVisible: Seq
    let readSeq: Seq
    let unread: Int
    let memberCount: Int
}

extension ClientStore {
    func thread(_ id: ThreadID) async throws -> ThreadFacts? {
        try await read { try ThreadFacts(id, $0) }
    }
}

extension ThreadFacts {
    init?(_ id: ThreadID, _ db: Database) throws {
        guard
            let row = try db.row(
                """
                select json_extract(data, '$.head'), json_extract(data, '$.me.hidden_before_seq'),
                    max(json_extract(data, '$.me.read_seq'), coalesce(k.read_seq, 0)), unread,
                    json_extract(data, '$.member_count')
                from thread left join mark k on k.thread_id = id where id = ?
                """, [id.rawValue])
        else { return nil }
        head = row.seq(at: 0) ?? 0
        firstVisible = max(1, row.seq(at: 1) ?? 0)
        readSeq = row.seq(at: 2) ?? 0
        unread = row[3] ?? 0
        memberCount = row[4] ?? 0
    }
}

/// Reads the rows of one timeline. Messages that did not change are not read again.
final class TimelineQuery: Sendable {
    private let thread: ThreadID
    private let outbox: Outbox
    private let known = Locked<[Int64: (version: Int64, message: Message)]>([:])

    init(thread: ThreadID, outbox: Outbox) {
        self.thread = thread
        self.outbox = outbox
    }

    func bounds(_ db: Database) throws -> (first: Seq, head: Seq) {
        let facts = try ThreadFacts(thread, db)
        return (facts?.firstVisible ?? 1, facts?.head ?? 0)
    }

    func rows(_ db: Database, _ window: Timeline.Window, readSeq: Seq?) throws -> [TimelineRow] {
        guard let facts = try ThreadFacts(thread, db) else { return try unsent(db) }
        let first = max(window.first, facts.firstVisible)
        let marks = try Marks(db, thread)
        var holes =
            first <= facts.head ? try db.gaps(thread.rawValue, in: first...min(window.last ?? .max, facts.head)) : []
        var rows: [TimelineRow] = []
        var isDivided = readSeq == nil
        for message in try messages(db, first, window.last ?? .max) {
            // An own message may be stored before those between it and the last event.
            holes = holes.flatMap { $0.without(message.seq) }
            while let hole = holes.first, hole.upperBound < message.seq {
                rows.append(.hole(holes.removeFirst()))
                _ = hole
            }
            if !isDivided, let readSeq, message.seq > readSeq, message.sender?.id.rawValue != marks.userID {
                rows.append(.divider)
                isDivided = true
            }
            rows.append(.message(message, marks.delivery(of: message)))
        }
        rows += holes.map { .hole($0) }
        if window.last == nil || window.last ?? 0 >= facts.head { rows += try unsent(db) }
        return rows
    }

    private func unsent(_ db: Database) throws -> [TimelineRow] {
        try OutboxEntry.of(thread.rawValue, db).map { .outgoing(OutgoingMessage($0, outbox: outbox)) }
    }

    private func messages(_ db: Database, _ first: Seq, _ last: Seq) throws -> [Message] {
        let before = known.withLock { $0 }
        var now: [Int64: (version: Int64, message: Message)] = [:]
        var result: [Message] = []
        let found = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    select number, version, data from message
                    where thread_id = ? and seq between ? and ? order by seq
                    """), arguments: [thread.rawValue, first.rawValue, last.rawValue])
        while let row = try found.next() {
            let (number, version): (Int64, Int64) = (row["number"], row["version"])
            let same = before[number].flatMap { $0.version == version ? $0.message : nil }
            guard let message = same ?? row.decodeIfReadable(Message.self, "data") else { continue }
            now[number] = (version, message)
            result.append(message)
        }
        known.withLock { [now] in $0 = now }
        return result
    }
}

/// The marks of the other members, to say who has an own message.
private struct Marks {
    let userID: String
    /// Of others who are invited or joined; nil if the list of members is not stored.
    private let others: [(delivered: Seq, read: Seq)]?

    init(_ db: Database, _ thread: ThreadID) throws {
        let userID = try db.value("user_id") ?? ""
        self.userID = userID
        guard try db.one("select 1 from member_list where thread_id = ?", [thread.rawValue]) == 1 else {
            others = nil
            return
        }
        let rows = try db.rows(
            """
            select json_extract(data, '$.delivered_seq') as delivered, json_extract(data, '$.read_seq') as read from member
            where thread_id = ? and user_id <> ? and json_extract(data, '$.status') = 'joined'
            """, [thread.rawValue, userID])
        others = rows.count < Member.followedMax ? rows.map { ($0.seq("delivered") ?? 0, $0.seq("read") ?? 0) } : nil
    }

    func delivery(of message: Message) -> Delivery? {
        guard let others, message.sender?.id.rawValue == userID, !message.isDeleted else { return nil }
        return Delivery(
            others: others.count, delivered: others.count { $0.delivered >= message.seq },
            read: others.count { $0.read >= message.seq })
    }
}

extension ClosedRange<Seq> {
    /// The parts before and after a seq.
    fileprivate func without(_ seq: Seq) -> [ClosedRange<Seq>] {
        guard contains(seq) else { return [self] }
        var parts: [ClosedRange<Seq>] = []
        if lowerBound < seq { parts.append(lowerBound...seq - 1) }
        if seq < upperBound { parts.append(seq + 1...upperBound) }
        return parts
    }
}
