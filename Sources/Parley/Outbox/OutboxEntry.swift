// A message that the server has not confirmed, as the store keeps it.
import Foundation
internal import GRDB

struct OutboxEntry: Sendable, Equatable {
    enum State: String, Sendable {
        case queued, failed
        /// It waits for a moderator's review. It stays until its event arrives.
        case pending
    }

    /// A file of the message. Its bytes are copied into the store's directory, so that the app may delete the original.
    struct File: Codable, Sendable, Equatable {
        let id: AttachmentID
        let name: String
        let contentType: String?
        let size: Int
        /// The name of the copy in the folder `outbox`; nil for an attachment that the server has already.
        let copy: String?
        var isUploaded = false
    }

    let number: Int64
    let id: MessageID
    let threadID: ThreadID
    /// The body of the request, with the attachments.
    let body: JSONValue
    var files: [File]
    let state: State
    let failure: Failure?
    let createdAt: Date

    /// Why a message was not sent, as it is stored: an error without its cause.
    struct Failure: Codable, Sendable, Equatable {
        let kind: ParleyError.Kind
        let detail: String
        /// The answer of the server, if it refused the message.
        var status: Int?
        var document: JSONValue?
        var requestID: String?
    }

    init(_ row: Row) throws {
        number = row["number"]
        id = MessageID(row["id"] as String)
        threadID = ThreadID(row["thread_id"] as String)
        body = try JSONValue(stored: row["body"])
        files = try row.decode([File].self, "files")
        state = State(rawValue: row["state"]) ?? .queued
        failure = (row["failure"] as String?) == nil ? nil : try row.decode(Failure.self, "failure")
        createdAt = Date(rfc3339: row["created_at"]) ?? .distantPast
    }

    static func all(_ db: Database) throws -> [OutboxEntry] {
        try db.rows("select * from outbox order by number").map(OutboxEntry.init)
    }

    static func of(_ thread: String, _ db: Database) throws -> [OutboxEntry] {
        try db.rows("select * from outbox where thread_id = ? order by number", [thread]).map(OutboxEntry.init)
    }

    static func one(_ id: String, _ db: Database) throws -> OutboxEntry? {
        try db.row("select * from outbox where id = ?", [id]).map(OutboxEntry.init)
    }

    /// The oldest message to be sent of each thread. A failed one does not hold up those after it.
    static func next(_ db: Database) throws -> [OutboxEntry] {
        try db.rows(
            """
            select * from outbox where number in
                (select min(number) from outbox where state = 'queued' group by thread_id) order by number
            """
        ).map(OutboxEntry.init)
    }
}

extension OutboxEntry.Failure {
    init(_ error: ParleyError) {
        self.init(
            kind: error.kind, detail: error.detail, status: error.problem?.status, document: error.problem?.document,
            requestID: error.problem?.requestID)
    }

    var error: ParleyError {
        guard let status, let document, let body = try? JSONEncoder().encode(document) else {
            return ParleyError(kind, detail: detail)
        }
        let headers = requestID.map { ["x-request-id": $0] } ?? [:]
        return .refused(Problem(HTTPResponse(status: status, headers: headers, body: body)))
    }
}

extension Fold {
    mutating func queue(_ id: MessageID, in thread: ThreadID, body: JSONValue, files: [OutboxEntry.File]) throws {
        let encoded = String(decoding: try JSONEncoder().encode(files), as: UTF8.self)
        try db.run(
            """
            insert into outbox (id, thread_id, body, files, state, created_at, version)
            values (?, ?, ?, ?, 'queued', ?, ?)
            """, [id.rawValue, thread.rawValue, body.text, encoded, Date.now.rfc3339, version])
        outboxChanged(thread.rawValue)
    }

    mutating func setFiles(_ files: [OutboxEntry.File], of entry: OutboxEntry) throws {
        let encoded = String(decoding: try JSONEncoder().encode(files), as: UTF8.self)
        try db.run("update outbox set files = ?, version = ? where id = ?", [encoded, version, entry.id.rawValue])
        outboxChanged(entry.threadID.rawValue)
    }

    /// Marks a message as refused, or to be sent again.
    mutating func setState(_ state: OutboxEntry.State, failure: OutboxEntry.Failure? = nil, of id: MessageID) throws {
        guard let thread: String = try db.one("select thread_id from outbox where id = ?", [id.rawValue]) else {
            throw ParleyError.notInOutbox(id)
        }
        let encoded = try failure.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
        try db.run(
            "update outbox set state = ?, failure = ?, version = ? where id = ?",
            [state.rawValue, encoded, version, id.rawValue])
        outboxChanged(thread)
    }

    /// Marks a message as waiting for a moderator, unless its event has arrived before the answer.
    mutating func markPending(_ id: MessageID) throws {
        guard try OutboxEntry.one(id.rawValue, db) != nil else { return }
        try setState(.pending, of: id)
    }

    /// Removes a message that the server has stored. Called for every stored message.
    mutating func removeSent(_ id: String, in thread: String) throws {
        try db.run("delete from outbox where id = ?", [id])
        if db.changesCount > 0 { outboxChanged(thread) }
    }

    /// Removes a message that was not sent. Returns whether it was there.
    mutating func removeUnsent(_ id: MessageID) throws -> OutboxEntry? {
        guard let entry = try OutboxEntry.one(id.rawValue, db) else { return nil }
        try db.run("delete from outbox where id = ?", [id.rawValue])
        outboxChanged(entry.threadID.rawValue)
        return entry
    }

    private mutating func outboxChanged(_ thread: String) {
        changes.outbox = true
        changes.timelines.insert(thread)
        changes.threads.insert(thread)
    }
}
