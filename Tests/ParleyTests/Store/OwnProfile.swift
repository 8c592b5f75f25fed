// The user's own profile, where it is shown in threads.
import Foundation
import Testing

@testable import Parley

@Suite("The own profile in threads", .timeLimit(.minutes(1)))
struct OwnProfile {
    @Test("A new profile is shown in a thread that came in the same answer of a poll")
    func newThread() async throws {
        let store = try ClientStore(.memory)
        try await store.write { fold in
            try fold.loadAccount(Self.user(status: .null), blocked: [])
            // Nobody else is in the thread, so the server sends no event of the thread for the profile.
            try fold.apply([
                ["type": "thread.created", "thread_id": "t", "at": Self.time, "data": Self.thread],
                ["type": "message.created", "thread_id": "t", "at": Self.time, "data": Self.message],
                ["type": "user.updated", "at": Self.time, "data": Self.user(name: "Ben B.", status: "On the road")],
            ])
        }
        let (member, message): (JSONValue?, JSONValue?) = try await store.read { db in
            let texts: [String?] = [try db.one("select data from member"), try db.one("select data from message")]
            let values = try texts.map { try $0.map(JSONValue.init(stored:)) }
            return (values[0], values[1])
        }
        #expect(member?["user"]?["name"] == "Ben B.")
        #expect(member?["user"]?["status_text"] == "On the road")
        #expect(message?["sender"]?["name"] == "Ben B.")
    }

    @Test("A new profile reads the messages of that person alone, and writes those that show the change")
    func messages() async throws {
        let store = try ClientStore(.memory)
        try await store.write { fold in
            try fold.loadAccount(Self.user(status: .null), blocked: [])
            try fold.apply([
                ["type": "thread.created", "thread_id": "t", "at": Self.time, "data": Self.thread],
                ["type": "message.created", "thread_id": "t", "at": Self.time, "data": Self.message],
            ])
        }
        let plan: [String] = try await store.read { db in
            try db.rows("explain query plan select data from message where thread_id = 't' and sender = 'ben'")
                .map { $0["detail"] }
        }
        #expect(plan.allSatisfy { $0.contains("message_sender") }, "\(plan)")
        let version: @Sendable () async throws -> Int? = {
            try await store.read { try $0.one("select version from message") }
        }
        let before = try await version()
        let event: (JSONValue) -> JSONValue = { ["type": "user.updated", "at": Self.time, "data": $0] }
        let busy = event(Self.user(status: "On the road"))
        try await store.write { try $0.apply([busy]) }
        #expect(try await version() == before, "a message does not show the status")
        let renamed = event(Self.user(name: "Ben B.", status: "On the road"))
        try await store.write { try $0.apply([renamed]) }
        #expect(try await version() != before)
    }

    private static let time: JSONValue = "2026-11-23T10:00:00.000Z"

    private static func user(name: JSONValue = "Ben", status: JSONValue) -> JSONValue {
        ["id": "ben", "username": "ben", "name": name, "profile_image": .null, "status_text": status]
    }

    private static let thread: JSONValue = [
        "id": "t", "kind": "room", "title": "Trip", "image": .null, "member_count": 1, "created_at": time,
        "members": [
            ["user": user(status: .null), "role": "owner", "status": "joined", "read_seq": 0, "delivered_seq": 0]
        ],
    ]

    private static let message: JSONValue = [
        "id": "m1", "thread_id": "t", "seq": 1, "timestamp": time, "payload": ["text": "Hello"], "reactions": [:],
        "mentions": [], "sender": ["id": "ben", "name": "Ben", "profile_image": .null], "deleted_at": .null,
    ]
}
