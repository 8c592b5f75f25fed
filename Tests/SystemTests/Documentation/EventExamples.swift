// The examples of docs/events.md: each event is caused on a running node and compared with what the page shows.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("The events in the documentation", .timeLimit(.minutes(2)))
    struct EventExamples {
        @Test("have the keys and the kinds of values that nodes send")
        func examples() async throws {
            var play = try await EventPlay()
            try await play.playThread()
            try await play.playMembers()
            try await play.playAccount()
            try await play.playTogether()
            try await play.playPassing()
            try await play.playDeletion()
            let blocks = try Document("docs/events.md").markedBlocks
            let examples = blocks.compactMap { block in
                block.marker.wholeMatch(of: /example: (.+)/).map { (name: String($0.1), code: block.code) }
            }
            #expect(Set(examples.map(\.name)) == Set(play.events.keys))
            #expect(examples.count == play.events.count)
            for (name, code) in examples {
                let event = play.events[name] ?? .null
                let example = try JSON(parsing: Data(code.utf8))
                #expect(example["type"] == event["type"], "\(name)")
                #expect(example.differences(from: event) == [], "\(name): \(event)")
            }
        }
    }
}

/// Ann, Ben and Cleo cause each event once. Ben's second device receives most of them.
private struct EventPlay {
    /// The recorded events, by the name of the example.
    private(set) var events: [String: JSON] = [:]
    private let client: Client
    private let ann: Person
    private let ben: Person
    private let cleo: Person
    private var thread = ""

    init() async throws {
        client = try await TestNodes.administered().a.client
        ann = try await client.register("Ann")
        ben = try await client.register("Ben")
        cleo = try await client.register("Cleo")
    }

    private var path: String { "/v1/threads/\(thread)" }

    /// Runs `body` and records the first event of a type that a person receives after it.
    private mutating func record(
        _ name: String, for person: Person, where isWanted: @Sendable (JSON) -> Bool = { _ in true },
        by body: () async throws -> Answer
    ) async throws {
        let type = name.split(separator: " ").first.map(String.init)
        var cursor = try await client.cursor(of: person)
        let answer = try await body()
        #expect((200..<300).contains(answer.status), "\(name): \(answer)")
        for _ in 0..<10 where events[name] == nil {
            let page = try await client.sync(person, from: cursor, wait: 5).json
            cursor = page["cursor"].string ?? ""
            events[name] = page["events"].items.first { $0["type"].string == type && isWanted($0) }
        }
    }

    /// A group of Ann and Ben, and its messages.
    mutating func playThread() async throws {
        let (client, ann, ben) = (client, ann, ben)
        try await record("thread.created", for: ben) {
            let body: JSON = ["kind": "group", "title": "Trip", "members": [.string(ben.id)]]
            return try await client.post("/v1/threads", body, as: ann)
        }
        thread = events["thread.created"]?["thread_id"].string ?? ""
        let path = path
        try await record("message.created", for: ben) {
            let body: JSON = ["payload": ["text": "Hello Ben"], "mentions": [.string(ben.id)]]
            return try await client.post("\(path)/messages", body, as: ann)
        }
        let message = "\(path)/messages/\(events["message.created"]?["data"]["id"].string ?? "")"
        try await record("message.updated", for: ben) {
            try await client.call("PATCH", message, ["payload": ["text": "Hello Ben, hello all"]], as: ann)
        }
        try await record("reaction.updated", for: ann) {
            try await client.call("PUT", "\(message)/reactions/%F0%9F%91%8D", as: ben)
        }
        try await record("receipt.updated", for: ann, where: { $0["data"]["read_seq"] == 1 }) {
            try await client.put("\(path)/receipts", ["read": 1], as: ben)
        }
        try await record("message.deleted", for: ben) { try await client.delete(message, as: ann) }
        let second = try await client.sent("two", in: thread, as: ann)
        try await record("message.deleted for me", for: ben) {
            try await client.delete("\(path)/messages/\(second)?for=me", as: ben)
        }
        try await record("thread.updated", for: ben) {
            let body: JSON = ["title": "Road trip", "retention": ["keep": "seconds", "seconds": 86400]]
            return try await client.call("PATCH", path, body, as: ann)
        }
        try await record("settings.updated", for: ben) {
            try await client.call("PATCH", "\(path)/settings", ["pinned": true], as: ben)
        }
    }

    /// The host app's server deletes the group.
    mutating func playDeletion() async throws {
        let (client, path) = (client, path)
        try await record("thread.deleted", for: ben) {
            try await client.call("DELETE", "/v1/admin\(path.dropFirst(3))", as: TestNodes.admin)
        }
    }

    /// Cleo is invited and joins.
    mutating func playMembers() async throws {
        let (client, ann, cleo, path) = (client, ann, cleo, path)
        try await record("thread.created invited", for: cleo) {
            try await client.put("\(path)/members/\(cleo.id)", ["status": "invited"], as: ann)
        }
        try await record("member.updated", for: ann) {
            try await client.put("\(path)/members/me", ["status": "joined"], as: cleo)
        }
    }

    private mutating func playProfile(_ name: String, for person: Person, _ status: String, isOwn: Bool) async throws {
        let (client, ann) = (client, ann)
        try await record(name, for: person, where: { ($0["thread_id"] == .null) == isOwn }) {
            try await client.call("PATCH", "/v1/users/me", ["status_text": .string(status)], as: ann)
        }
    }

    /// Events of an account and its devices.
    mutating func playAccount() async throws {
        try await playProfile("user.updated", for: ben, "On the road", isOwn: false)
        try await playProfile("user.updated own", for: ann, "At home", isOwn: true)
        let (client, ben, cleo) = (client, ben, cleo)
        try await record("settings.updated block", for: ben) {
            try await client.call("PUT", "/v1/users/me/blocks/\(cleo.id)", as: ben)
        }
        let laptop = try await client.logIn(again: ben)
        try await record("session.revoked", for: ben) {
            try await client.delete("/v1/sessions/\(laptop.session)", as: ben)
        }
    }

    /// A mark in a thread of more than ten members.
    mutating func playTogether() async throws {
        let (client, ann, ben) = (client, ann, ben)
        var others = [ben]
        for _ in 0..<10 { others.append(try await client.register("Dan")) }
        let large = try await client.thread("group", by: ann, with: others)
        _ = try await client.sent("hi", in: large, as: ann)
        try await record(
            "receipt.updated together", for: others[1], where: { $0["data"]["receipts"][0]["read_seq"] == 1 }
        ) {
            try await client.put("/v1/threads/\(large)/receipts", ["read": 1], as: ben)
        }
    }

    /// Events that are sent only to polls that wait at that moment.
    mutating func playPassing() async throws {
        let (client, ann, ben, path) = (client, ann, ben, path)
        // Ben has polled before, so he is online already. A new person comes online with their first poll.
        let eve = try await client.register("Eve")
        _ = try await client.thread("direct", by: ann, with: [eve])
        try await passing("presence.updated", for: ann, where: { $0["data"]["user_id"].string == eve.id }) {
            try await client.get("/v1/sync?cursor=\(try await client.cursor(of: eve))&wait=1", as: eve)
        }
        try await passing("typing", for: ann) { try await client.put("\(path)/typing", [:], as: ben) }
    }

    /// The same as `record`, with a poll that already waits. Repeats `body` until the event arrives, because a poll that
    /// has just ended misses it.
    private mutating func passing(
        _ name: String, for person: Person, where isWanted: @escaping @Sendable (JSON) -> Bool = { _ in true },
        by body: @Sendable () async throws -> Answer
    ) async throws {
        let client = client
        for _ in 0..<5 where events[name] == nil {
            async let found: JSON? = {
                var cursor = try await client.cursor(of: person)
                for _ in 0..<6 {
                    let page = try await client.sync(person, from: cursor, wait: 5).json
                    let events = page["events"].items
                    if let event = events.first(where: { $0["type"].string == name && isWanted($0) }) { return event }
                    cursor = page["cursor"].string ?? ""
                }
                return nil
            }()
            try await TestNodes.administered().a.waitForPolls()
            let answer = try await body()
            #expect((200..<300).contains(answer.status), "\(name): \(answer)")
            events[name] = try await found
        }
    }
}
