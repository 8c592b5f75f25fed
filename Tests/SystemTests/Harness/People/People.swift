// The people of a test, and the calls that nearly every test makes first.

import Foundation
import Synchronization
import Testing

/// An account with one signed-in device.
struct Person: Sendable {
    let id: String
    let username: String
    let password: String
    let session: String
    let token: String
}

/// Returns a name that is unique in the database.
func unique(_ prefix: String) -> String {
    "\(prefix)\(counter.add(1, ordering: .relaxed).newValue)x\(UInt32.random(in: 0...0xffff))"
}

private let counter = Atomic(0)

/// Returns a new message id, as a client makes it.
func newID() -> String { UUID().uuidString.lowercased() }

extension Caller {
    func register(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) async throws -> Person {
        let username = unique(name.lowercased())
        let password = "correct horse \(username)"
        let body: JSON = ["username": .string(username), "password": .string(password), "name": .string(name)]
        let answer = try await post("/v1/auth/register", body)
        try #require(answer.status == 201, "\(answer)", sourceLocation: sourceLocation)
        return Person(
            id: answer.json["user"]["id"].string ?? "", username: username, password: password,
            session: answer.json["session"]["id"].string ?? "", token: answer.json["session"]["token"].string ?? "")
    }

    /// Signs in on another device of a person.
    func logIn(again person: Person, sourceLocation: SourceLocation = #_sourceLocation) async throws -> Person {
        let credentials: JSON = ["username": .string(person.username), "password": .string(person.password)]
        let answer = try await post("/v1/auth/login", credentials)
        try #require(answer.status == 200, "\(answer)", sourceLocation: sourceLocation)
        return Person(
            id: person.id, username: person.username, password: person.password,
            session: answer.json["session"]["id"].string ?? "", token: answer.json["session"]["token"].string ?? "")
    }

    /// A new direct thread's, group's or room's id.
    func thread(
        _ kind: String, by person: Person, with others: [Person], invite: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        var body: [String: JSON] = ["kind": .string(kind), "members": .array(others.map { .string($0.id) })]
        if kind != "direct" { body["title"] = .string(unique("Title ")) }
        if invite { body["invite"] = true }
        let answer = try await post("/v1/threads", .object(body), as: person)
        try #require(answer.status == 201, "\(answer)", sourceLocation: sourceLocation)
        return try #require(answer.json["id"].string, sourceLocation: sourceLocation)
    }

    func say(_ text: String, in thread: String, as person: Person, id: String? = nil) async throws -> Answer {
        var body: [String: JSON] = ["payload": ["text": .string(text)]]
        if let id { body["id"] = .string(id) }
        return try await post("/v1/threads/\(thread)/messages", .object(body), as: person)
    }

    /// Sends a message as a person of whom only the token is known.
    func say(_ text: String, in thread: String, token: String) async throws -> Answer {
        let nobody = Person(id: "", username: "", password: "", session: "", token: token)
        return try await say(text, in: thread, as: nobody)
    }

    /// The id of a message that was sent.
    func sent(
        _ text: String, in thread: String, as person: Person, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let answer = try await say(text, in: thread, as: person)
        try #require(answer.status == 201, "\(answer)", sourceLocation: sourceLocation)
        return try #require(answer.json["id"].string, sourceLocation: sourceLocation)
    }

    /// Returns the current cursor.
    func cursor(of person: Person, sourceLocation: SourceLocation = #_sourceLocation) async throws -> String {
        let answer = try await get("/v1/sync", as: person)
        try #require(answer.status == 200, "\(answer)", sourceLocation: sourceLocation)
        return try #require(answer.json["cursor"].string, sourceLocation: sourceLocation)
    }

    func sync(_ person: Person, from cursor: String, wait: Int = 0, limit: Int = 100) async throws -> Answer {
        try await get(
            "/v1/sync?cursor=\(cursor)&wait=\(wait)&limit=\(limit)", as: person, within: .seconds(wait + 30))
    }

    /// Polls from a cursor, a few times at most, until an event arrives that the service does not send on its own.
    func syncUntilTold(_ person: Person, from start: String, wait: Int) async throws -> Answer {
        var answer = try await sync(person, from: start, wait: wait)
        for _ in 0..<5 where answer.told.isEmpty {
            guard let cursor = answer.json["cursor"].string else { break }
            answer = try await sync(person, from: cursor, wait: wait)
        }
        return answer
    }

    /// All messages of a thread, page by page from the first.
    func history(
        of thread: String, as person: Person, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [JSON] {
        var messages: [JSON] = []
        while true {
            let after = messages.last?["seq"].int ?? 0
            let page = try await get("/v1/threads/\(thread)/messages?after=\(after)&limit=200", as: person)
            try #require(page.status == 200, "\(page)", sourceLocation: sourceLocation)
            messages += page.json["messages"].items
            if page.json["end"].bool ?? true { return messages }
            // Otherwise the next page would be this page again, without end.
            try #require(!page.json["messages"].items.isEmpty, "\(page)", sourceLocation: sourceLocation)
        }
    }
}
