// A server in the test's process: one account, its inbox, and events that the test adds.
import Foundation
import Synchronization
import Testing

@testable import Parley

/// Answers the calls that a client makes. Events reach the client through its long poll, as from a node.
final class ScriptedServer: HTTPTransport {
    private struct State {
        var threads: [JSONValue] = []
        var messages: [String: [JSONValue]] = [:]
        var members: [String: [JSONValue]] = [:]
        var events: [JSONValue] = []
        var found: [JSONValue] = []
        var refusals: [String: String] = [:]
        var delays: [String: Duration] = [:]
        var requests: [(line: String, body: JSONValue)] = []
    }

    private let state = Mutex(State())

    static let ann: JSONValue = [
        "id": "ann", "username": "ann", "name": "Ann", "preferences": [:], "created_at": "2026-11-01T10:00:00.000Z",
    ]

    /// Adds a thread with messages of Ben, all of them unread.
    func addThread(_ id: String, title: String, texts: [String] = [], archived: Bool = false) {
        let messages = texts.enumerated().map { Self.message(id, seq: $0 + 1, $1) }
        let thread = Self.thread(id, title: title, messages: messages, archived: archived)
        state.withLock { state in
            state.threads.append(thread)
            state.messages[id] = messages
            state.members[id] = [Self.member("ann", "Ann"), Self.member("ben", "Ben")]
        }
    }

    /// Ben sends a message.
    func send(_ thread: String, _ text: String, from sender: String = "ben") {
        state.withLock { state in
            let message = Self.message(thread, seq: state.messages[thread, default: []].count + 1, text, from: sender)
            state.messages[thread, default: []].append(message)
            state.events.append(Self.event("message.created", thread, message))
        }
    }

    func add(_ type: String, _ thread: String, _ data: JSONValue) {
        state.withLock { $0.events.append(Self.event(type, thread, data)) }
    }

    /// Lets searches find the last message of a thread.
    func find(in thread: String) {
        state.withLock { state in
            state.found = state.messages[thread, default: []].suffix(1).map { ["message": $0, "snippet": "…"] }
        }
    }

    /// Refuses a call from now on: `POST /v1/auth/login`. Nil accepts it again.
    func refuse(_ line: String, _ code: String?) { state.withLock { $0.refusals[line] = code } }

    /// Answers a call later from now on.
    func delay(_ line: String, by time: Duration) { state.withLock { $0.delays[line] = time } }

    /// The bodies of the requests with this method and path.
    func bodies(_ line: String) -> [JSONValue] { state.withLock { $0.requests.filter { $0.line == line }.map(\.body) } }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let line = "\(request.method) \(request.url.path)"
        let body = try request.body.map { try JSONDecoder().decode(JSONValue.self, from: $0) } ?? .null
        let (refusal, delay) = state.withLock { state in
            state.requests.append((line, body))
            return (state.refusals[line], state.delays[line])
        }
        if let delay { try await Task.sleep(for: delay) }
        if let refusal { return answer(400, ["code": .string(refusal), "detail": "Refused by the test."]) }
        if line == "GET /v1/sync" { return try await poll(request) }
        return state.withLock { answer(line, body, $0) } ?? answer(404, ["code": "not_found", "detail": .string(line)])
    }

    private func answer(_ line: String, _ body: JSONValue, _ state: State) -> HTTPResponse? {
        let path = line.split(separator: "/").map(String.init)
        switch line {
        case "POST /v1/auth/login": return answer(200, ["user": Self.ann, "session": ["id": "s", "token": "t"]])
        case "POST /v1/auth/logout": return answer(204, .null)
        case "GET /v1/users/me": return answer(200, Self.ann)
        case "GET /v1/users/me/blocks": return answer(200, ["blocks": [], "limit": 200])
        case "GET /v1/inbox":
            let cursor = JSONValue.string(String(state.events.count))
            return answer(200, ["threads": .array(state.threads), "unread_total": 0, "cursor": cursor, "limit": 200])
        case "GET /v1/search": return answer(200, ["results": .array(state.found), "limit": 50])
        case "POST /v1/receipts": return answer(204, .null)
        default: break
        }
        guard path.count == 5, path[2] == "threads" else { return nil }
        switch (path[0], path[4]) {
        case ("GET ", "messages"):
            let messages = state.messages[path[3]] ?? []
            return answer(
                200, ["messages": .array(messages), "head": .integer(Int64(messages.count)), "end": true, "limit": 100])
        case ("GET ", "members"): return answer(200, ["members": .array(state.members[path[3]] ?? []), "limit": 200])
        default: return nil
        }
    }

    /// A cursor is the number of events before it.
    private func poll(_ request: HTTPRequest) async throws -> HTTPResponse {
        let query = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        let cursor = query.first { $0.name == "cursor" }?.value.flatMap(Int.init) ?? 0
        let wait = query.first { $0.name == "wait" }?.value.flatMap(Int.init) ?? 0
        let end = ContinuousClock.now + .seconds(wait)
        while true {
            let events = state.withLock { Array($0.events.dropFirst(cursor)) }
            if !events.isEmpty || .now >= end {
                let next = JSONValue.string(String(cursor + events.count))
                return answer(200, ["events": .array(events), "cursor": next, "more": false])
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private func answer(_ status: Int, _ body: JSONValue) -> HTTPResponse {
        HTTPResponse(status: status, headers: [:], body: (try? JSONEncoder().encode(body)) ?? Data())
    }
}

extension ScriptedServer {
    private static let time: JSONValue = "2026-11-02T10:00:00.000Z"

    private static func thread(_ id: String, title: String, messages: [JSONValue], archived: Bool) -> JSONValue {
        [
            "id": .string(id), "kind": "group", "title": .string(title), "image": .null,
            "labels": [], "retention": ["keep": "forever"],
            "member_count": 2, "created_at": time, "peer": .null, "last_message": messages.last ?? .null,
            "unread_count": .integer(Int64(messages.count)), "mention_count": 0, "last_activity_at": time,
            "head": .integer(Int64(messages.count)),
            "me": [
                "role": "member", "status": "joined", "read_seq": 0, "delivered_seq": 0, "muted_until": .null,
                "archived": .bool(archived), "pinned": false, "notify": "all", "hidden_before_seq": 0,
                "labels": [],
                "invited_by": .null,
            ],
        ]
    }

    private static func message(_ thread: String, seq: Int, _ text: String, from sender: String = "ben") -> JSONValue {
        [
            "id": .string("\(thread)-\(seq)"), "thread_id": .string(thread), "seq": .integer(Int64(seq)),
            "timestamp": time, "type": "message", "payload": ["text": .string(text)], "mentions": [], "reactions": [:],
            "sender": ["id": .string(sender), "name": .string(sender.capitalized), "profile_image": .null],
        ]
    }

    private static func member(_ id: String, _ name: String) -> JSONValue {
        [
            "user": ["id": .string(id), "name": .string(name)], "role": "member", "status": "joined", "read_seq": 0,
            "delivered_seq": 0, "read_at": .null, "delivered_at": .null, "joined_at": time,
        ]
    }

    private static func event(_ type: String, _ thread: String, _ data: JSONValue) -> JSONValue {
        ["type": .string(type), "thread_id": .string(thread), "at": time, "data": data]
    }
}

extension ParleyClient {
    /// A client without a disk, signed in as Ann.
    static func signedIn(_ server: ScriptedServer) async throws -> ParleyClient {
        let client = try ParleyClient(signedOut: server)
        try await client.signIn(.password(username: "ann", password: "a river of tea"))
        return client
    }

    init(signedOut server: ScriptedServer) throws {
        try self.init(.init(server: #require(URL(string: "http://server.invalid")), store: .memory, transport: server))
    }
}
