// Three people whose actions become client vectors.

import Foundation
import TestSupport
import Testing

/// Ann, Ben and Cleo. Ben's first device follows the log and is recorded; Ben also acts on a second one.
struct VectorStage {
    let addresses: [Address]
    let ann: Person
    let ben: Person
    let cleo: Person
    /// Ben's second device.
    let laptop: Person
    private let connections: [Connection]
    private(set) var device: FoldingDevice

    init(at addresses: [Address]) async throws {
        self.addresses = addresses
        connections = addresses.map(Connection.init)
        let connection = connections[0]
        ben = try await connection.register("Ben")
        ann = try await connection.register("Ann")
        cleo = try await connection.register("Cleo")
        laptop = try await connection.logIn(again: ben)
        device = try await FoldingDevice(0, ben, at: connection, isRecorded: true)
    }

    var steps: [JSON] { device.recording?.steps ?? [] }
    /// The device follows the log at one node; people act at the other.
    var caller: Connection { connections[0] }
    private var follower: Connection { connections[connections.count - 1] }

    // MARK: What people do

    /// Makes a call that must succeed, and returns its answer.
    @discardableResult
    func call(
        _ method: String, _ path: String, _ body: JSON? = nil, as person: Person,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> JSON {
        let answer = try await caller.call(method, "/v1" + path, body, as: person)
        let isDone = (200..<300).contains(answer.status)
        try #require(isDone, "\(method) \(path): \(answer)", sourceLocation: sourceLocation)
        try await Self.waitForNextMillisecond()
        return answer.json
    }

    /// Ids begin with the millisecond of their creation, and a vector keeps their order. Those of two calls within one
    /// millisecond would have another order in each recording.
    private static func waitForNextMillisecond() async throws {
        func milliseconds() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
        let present = milliseconds()
        while milliseconds() == present { try await Task.sleep(for: .microseconds(100)) }
    }

    func group(
        _ title: String, by person: Person, with others: [Person], invite: Bool = false
    ) async throws -> String {
        let members = JSON.array(others.map { .string($0.id) })
        let body: JSON = ["kind": "group", "title": .string(title), "members": members, "invite": .bool(invite)]
        return try await call("POST", "/threads", body, as: person)["id"].string ?? ""
    }

    func direct(by person: Person, with other: Person) async throws -> String {
        let body: JSON = ["kind": "direct", "members": [.string(other.id)]]
        return try await call("POST", "/threads", body, as: person)["id"].string ?? ""
    }

    /// Sends a message and returns its id.
    @discardableResult
    func send(
        _ text: String, in thread: String, by person: Person, mentions: [Person] = [], _ more: [String: JSON] = [:]
    ) async throws -> String {
        var body = more.merging(["payload": ["text": .string(text)]]) { own, _ in own }
        if !mentions.isEmpty { body["mentions"] = .array(mentions.map { .string($0.id) }) }
        return try await call("POST", "/threads/\(thread)/messages", .object(body), as: person)["id"].string ?? ""
    }

    func edit(_ message: String, _ text: String, in thread: String, by person: Person) async throws {
        let body: JSON = ["payload": ["text": .string(text)]]
        try await call("PATCH", "/threads/\(thread)/messages/\(message)", body, as: person)
    }

    func delete(_ message: String, for audience: String, in thread: String, by person: Person) async throws {
        try await call("DELETE", "/threads/\(thread)/messages/\(message)?for=\(audience)", as: person)
    }

    /// Adds a reaction, or removes it.
    func react(
        _ emoji: String, put: Bool = true, to message: String, in thread: String, by person: Person
    ) async throws {
        let name = percentEncoded(emoji)
        try await call(put ? "PUT" : "DELETE", "/threads/\(thread)/messages/\(message)/reactions/\(name)", as: person)
    }

    func read(_ seq: Int, in thread: String, by person: Person) async throws {
        try await call("PUT", "/threads/\(thread)/receipts", ["read": .init(seq)], as: person)
    }

    func setMember(_ other: Person, _ change: JSON, in thread: String, by person: Person) async throws {
        try await call("PUT", "/threads/\(thread)/members/\(other.id)", change, as: person)
    }

    func removeMember(_ other: Person, in thread: String, by person: Person) async throws {
        try await call("DELETE", "/threads/\(thread)/members/\(other.id)", as: person)
    }

    func settings(_ settings: JSON, in thread: String) async throws {
        try await call("PATCH", "/threads/\(thread)/settings", settings, as: laptop)
    }

    // MARK: What the device does

    /// Follows the log to its end, and compares what the device shows with the server.
    mutating func check(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        if let difference = try await device.check(at: follower) {
            Issue.record("\(difference)", sourceLocation: sourceLocation)
        }
    }

    /// The last check: the vector expects all stored messages with their content.
    mutating func finish() async throws {
        try await check()
        device.expectMessages()
    }

    /// Follows the log until it has brought some events of a kind.
    mutating func wait(count: Int = 1, for isWanted: (JSON) -> Bool) async throws {
        let earlierCount = events.filter(isWanted).count
        try await follow { $0.filter(isWanted).count >= earlierCount + count }
    }

    /// Follows the log until others have read the first message of a large thread: their marks come together, in one
    /// event or in several.
    mutating func waitForReaders(_ others: [Person]) async throws {
        try await follow { events in
            let readers = events.flatMap(\.["data"]["receipts"].items).filter { $0["read_seq"] == 1 }
            return Set(others.map(\.id)).isSubset(of: readers.compactMap { $0["user_id"].string })
        }
    }

    private var events: [JSON] { steps.flatMap(\.["events"].items) }

    private mutating func follow(until isDone: ([JSON]) -> Bool) async throws {
        for _ in 0..<60 where !isDone(events) {
            try await device.follow(pages: 1, limit: 100, waitS: 1, at: follower)
        }
        guard isDone(events) else { throw TimedOut(description: "an event for the vector") }
    }

    /// Forgets everything, and loads the inbox again.
    mutating func reload() async throws { try await device.reload(at: follower) }

    mutating func scroll(_ thread: String, before: Int? = nil, after: Int? = nil, limit: Int) async throws {
        try await device.scroll(thread, before: before, after: after, limit: limit, at: follower)
    }

    mutating func loadMembers(of thread: String) async throws {
        try await device.loadMembers(of: thread, at: follower)
    }

    /// Asks for a page of messages, for the members, or for the thread. The answer is older than what happens until `receive`.
    mutating func askMessages(of thread: String, before: Int) async throws -> LateAnswer {
        try await device.ask(
            "messages", of: thread, "/messages?limit=50&before=\(before)", ["before": .init(before)], at: follower)
    }

    mutating func askMembers(of thread: String) async throws -> LateAnswer {
        try await device.ask("members", of: thread, "/members?limit=200", at: follower)
    }

    mutating func askThread(_ thread: String) async throws -> LateAnswer {
        try await device.ask("thread", of: thread, "", at: follower)
    }

    mutating func receive(_ late: LateAnswer) { device.receive(late) }

    /// Loads the inbox in pages of two threads; `body` runs between two pages.
    mutating func reloadInPages(between body: () async throws -> Void) async throws {
        try await device.reload(at: follower, pagesOf: 2, between: body)
    }

    /// Polls from the stored cursor, which has expired, and reloads. The node that the device followed may still have
    /// trimmed events in memory, so this asks the other one.
    mutating func reloadExpired() async throws {
        let answer = try await device.poll(at: caller)
        try #require(answer.status == 410, "\(answer)")
        try await device.reload(expired: answer.json, at: caller)
    }

    /// Whether the stored cursor has expired.
    func isExpired() async throws -> Bool { try await device.poll(at: caller).status == 410 }
}
