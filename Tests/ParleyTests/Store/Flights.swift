// Answers of calls that arrive after the events of later changes.
import Foundation
import Testing

@testable import Parley

@Suite("Answers that events have overtaken", .timeLimit(.minutes(1)))
struct Overtaking {
    @Test("A page does not overwrite a message that an event has changed since the call")
    func page() async throws {
        let store = try await Self.store()
        let isStored = try await store.flight {
            let page = Self.page([Self.message(1, "old"), Self.message(2, "two")])
            try await store.write { try $0.apply([Self.event("message.updated", Self.message(1, "new"))]) }
            return page
        } store: {
            try $0.loadMessages("t", page: $1, before: 3, unless: $2)
        }
        #expect(isStored)
        #expect(try await Self.text(1, store) == "new")
        #expect(try await Self.text(2, store) == "two")
    }

    @Test("A page with a message that changed and is not stored is fetched again")
    func unknown() async throws {
        let store = try await Self.store()
        let isStored = try await store.flight {
            try await store.write { try $0.apply([Self.event("message.updated", Self.message(2, "new"))]) }
            return Self.page([Self.message(2, "old")])
        } store: {
            try $0.loadMessages("t", page: $1, before: 3, unless: $2)
        }
        #expect(!isStored)
        #expect(try await Self.text(2, store) == nil)
    }

    @Test("The answer of a send does not bring back a message that was deleted meanwhile")
    func deletion() async throws {
        let store = try await Self.store()
        try await store.flight {
            try await store.write { fold in
                var gone = Self.message(2, "hi")
                gone["for"] = "me"
                gone["unread_count"] = 0
                gone["mention_count"] = 0
                try fold.apply([
                    Self.event("message.created", Self.message(2, "hi")), Self.event("message.deleted", gone),
                ])
            }
            return Self.message(2, "hi")
        } store: {
            try $0.store($1, in: "t", unless: $2)
        }
        #expect(try await Self.text(2, store) == nil)
    }

    @Test("A page of a thread that was loaded again is fetched again")
    func reset() async throws {
        let store = try await Self.store()
        let isStored = try await store.flight {
            try await store.write { try $0.loadThreads([Self.thread]) }
            return Self.page([Self.message(1, "old")])
        } store: {
            try $0.loadMessages("t", page: $1, before: 2, unless: $2)
        }
        #expect(!isStored)
    }

    @Test("A page of messages that the user has hidden meanwhile is fetched again")
    func hidden() async throws {
        let store = try await Self.store()
        let isStored = try await store.flight {
            try await store.write { try $0.apply([Self.event("settings.updated", Self.settings(hiddenBefore: 2))]) }
            return Self.page([Self.message(1, "old")])
        } store: {
            try $0.loadMessages("t", page: $1, before: 2, unless: $2)
        }
        #expect(!isStored)
        #expect(try await Self.text(1, store) == nil)
    }

    @Test("A page stays good when other settings change")
    func pinned() async throws {
        let store = try await Self.store()
        let isStored = try await store.flight {
            try await store.write { try $0.apply([Self.event("settings.updated", Self.settings(hiddenBefore: 0))]) }
            return Self.page([Self.message(1, "old")])
        } store: {
            try $0.loadMessages("t", page: $1, before: 2, unless: $2)
        }
        #expect(isStored)
    }

    @Test("An answer of before a reload counts for nothing, also about the account and about unknown threads")
    func reload() async throws {
        let store = try await Self.store()
        let touches = try await store.flight {
            try await store.write { try $0.loadInbox([]) }
        } store: {
            $2
        }
        #expect(touches.all)
        #expect(touches.concernInbox("another"))
        let later = try await store.flight {
            "an answer"
        } store: {
            $2
        }
        #expect(later.isEmpty)
    }

    @Test("A thread of an answer is asked for again if a message has arrived in it meanwhile")
    func message() async throws {
        let store = try await Self.store()
        let touches = try await store.flight {
            var message = Self.message(1, "new")
            message["thread_id"] = "unknown"
            let event: JSONValue = [
                "type": "message.created", "thread_id": "unknown", "at": "2026-11-23T10:00:00.000Z", "data": message,
            ]
            try await store.write { try $0.apply([event]) }
        } store: {
            $2
        }
        #expect(touches.concernInbox("unknown"))
        #expect(!touches.concern("unknown"), "an answer about its settings is still good")
    }

    // MARK: A thread with one message

    private static func settings(hiddenBefore: Seq) -> JSONValue {
        [
            "muted_until": .null, "archived": false, "pinned": true, "notify": "all",
            "hidden_before_seq": .init(hiddenBefore),
            "custom": .null, "labels": [], "unread_count": 0, "mention_count": 0,
        ]
    }

    private static let thread: JSONValue = [
        "id": "t", "kind": "group", "head": 2, "unread_count": 0, "mention_count": 0,
        "last_activity_at": "2026-11-23T10:00:00.000Z", "me": ["status": "joined", "read_seq": 2],
    ]

    private static func store() async throws -> ClientStore {
        let store = try ClientStore(.memory)
        try await store.write { fold in
            try fold.loadThreads([thread])
            try fold.loadMessages("t", page: page([message(1, "one")]), before: 2)
        }
        return store
    }

    private static func message(_ seq: Seq, _ text: String) -> JSONValue {
        [
            "id": .string("m\(seq)"), "thread_id": "t", "seq": .init(seq), "payload": ["text": .string(text)],
            "reactions": [:], "mentions": [], "sender": ["id": "ann", "name": "Ann"], "deleted_at": .null,
        ]
    }

    private static func page(_ messages: [JSONValue]) -> JSONValue {
        ["messages": .array(messages), "head": 2, "end": false]
    }

    private static func event(_ type: String, _ data: JSONValue) -> JSONValue {
        ["type": .string(type), "thread_id": "t", "at": "2026-11-23T10:00:00.000Z", "data": data]
    }

    private static func text(_ seq: Seq, _ store: ClientStore) async throws -> String? {
        try await store.read { db in
            let text: String? = try db.one("select data from message where thread_id = 't' and seq = ?", [seq.rawValue])
            return try text.map { try JSONValue(stored: $0) }?["payload"]?["text"]?.string
        }
    }
}
