// Gives the steps of one client vector to a store, and compares what the store shows.

import Foundation

@testable import Parley

struct VectorReplay {
    let store: ClientStore
    let user: String
    /// The threads of an answer 410, until its inbox comes. Nil: the next inbox is that of a new device.
    private var stale: Set<String>?
    /// The threads as the last expectation has them: a vector names only those that have changed.
    private var expectedThreads: [String: JSONValue] = [:]
    /// The calls that are on their way, by the number of the request.
    private var flights: [Int: Int] = [:]

    init(store: ClientStore, user: String) {
        self.store = store
        self.user = user
    }

    /// Takes one step. Returns the differences from what the vector expects.
    mutating func take(_ step: JSONValue, before following: JSONValue) async throws -> [String] {
        guard let (kind, content) = step.dictionary?.first else { return ["a step has one key"] }
        let user = user
        if kind != "ask", let asked = content["asked"]?.int, let flight = flights[asked] {
            let touches = store.flights.touches(flight)
            store.flights.end(flight)
            try await takeLate(kind, content, touches)
            return []
        }
        switch kind {
        case "ask": flights[content["asked"]?.int ?? 0] = store.flights.begin()
        case "account":
            let blocked = (content["blocked"]?.array ?? []).compactMap(\.string)
            try await store.write { fold in
                try fold.db.setValue("user_id", user)
                try fold.loadAccount(content["user"] ?? .null, blocked: blocked)
            }
        case "expired": stale = Set(Self.threads(content).compactMap { $0["id"]?.string })
        case "inbox": try await loadInbox(Self.threads(content))
        case "inbox_page": try await store.write { try $0.loadThreads(Self.threads(content)) }
        case "thread": try await store.write { try $0.loadThreads([content]) }
        case "events":
            try await store.write { try $0.apply(content.array ?? []) }
            guard following["messages"] == nil, following["thread"] == nil else { return [] }
            return try await store.write { try $0.threadsWithoutLastMessage() }.map { "no last message of \($0)" }
        case "messages":
            try await store.write { fold in
                try fold.loadMessages(
                    content["thread_id"]?.string ?? "", page: content["answer"] ?? .null,
                    before: content["before"]?.seq, after: content["after"]?.seq)
            }
        case "members":
            try await store.write { fold in
                try fold.loadMembers(content["members"]?.array ?? [], of: content["thread_id"]?.string ?? "")
            }
        case "expect": return try await differences(from: content)
        default: return ["an unknown step: \(kind)"]
        }
        return []
    }

    /// An answer that events may have overtaken. A client that drops it asks again; here it has everything already.
    private func takeLate(_ kind: String, _ content: JSONValue, _ touches: Touches) async throws {
        let id = content["thread_id"]?.string ?? ""
        let answer = content["answer"] ?? .null
        try await store.write { fold in
            switch kind {
            case "messages":
                _ = try fold.loadMessages(
                    id, page: answer, before: content["before"]?.seq, after: content["after"]?.seq, unless: touches)
            case "members": _ = try fold.loadMembers(content["members"]?.array ?? [], of: id, unless: touches)
            default: _ = try fold.loadThread(answer, unless: touches)
            }
        }
    }

    private static func threads(_ content: JSONValue) -> [JSONValue] { content["threads"]?.array ?? [] }

    private mutating func loadInbox(_ threads: [JSONValue]) async throws {
        // A new device has nothing stored: every thread counts as stale.
        let known = try await shown().threads.keys
        let stale = self.stale ?? Set(known)
        self.stale = nil
        try await store.write { try $0.loadInbox(threads, stale: stale) }
    }

    private mutating func differences(from expected: JSONValue) async throws -> [String] {
        let shown = try await shown()
        for thread in Self.threads(expected) { expectedThreads[thread["id"]?.string ?? ""] = thread }
        let unread = shown.threads.values.reduce(0) { $0 + ($1["unread_count"]?.int ?? 0) }
        var lines = Self.differences(.array(shown.order.map { .string($0) }), expected["order"], "order")
        lines += Self.differences(.init(unread), expected["unread_total"], "unread_total")
        for (id, thread) in shown.threads {
            lines += Self.differences(thread, expectedThreads[id], "threads.\(id)")
            let messages = shown.messages[id] ?? []
            let seqs = messages.compactMap { $0["seq"] }
            lines += Self.differences(.array(seqs), expected["seqs"]?[id] ?? [], "seqs.\(id)")
            guard let right = expected["messages"] else { continue }
            lines += Self.differences(.array(messages), right[id] ?? [], "messages.\(id)")
        }
        for (id, members) in expected["members"]?.dictionary ?? [:] {
            lines += Self.differences(
                Self.byID(shown.members[id] ?? []), Self.byID(members.array ?? []), "members.\(id)")
        }
        func sorted(_ account: JSONValue?) -> JSONValue {
            let blocked = (account?["blocked"]?.array ?? []).compactMap(\.string).sorted()
            return ["user": account?["user"] ?? .null, "blocked": .array(blocked.map { .string($0) })]
        }
        return lines + Self.differences(sorted(shown.account), sorted(expected["account"]), "account")
    }

    // MARK: What the store shows

    private struct Shown {
        var order: [String] = []
        var threads: [String: JSONValue] = [:]
        var messages: [String: [JSONValue]] = [:]
        var members: [String: [JSONValue]] = [:]
        var account = JSONValue.null
    }

    private func shown() async throws -> Shown {
        try await store.read { db in
            var shown = Shown()
            shown.order = try db.all("select id from thread order by activity desc, id desc")
            for id in shown.order {
                let text: String = try db.one("select data from thread where id = ?", [id]) ?? ""
                let texts: [String] = try db.all("select data from message where thread_id = ? order by seq", [id])
                shown.messages[id] = try texts.map(JSONValue.init(stored:))
                var thread = try JSONValue(stored: text)
                let first = try db.newestFirst(id, head: thread["head"]?.seq ?? 0)
                thread["last_message"] = shown.messages[id]?.last { ($0["seq"]?.seq ?? 0) >= first ?? .max }
                shown.threads[id] = thread
                let members: [String] = try db.all("select data from member where thread_id = ?", [id])
                shown.members[id] = try members.map(JSONValue.init(stored:))
            }
            shown.account = [
                "user": try JSONValue(stored: try db.value("account") ?? "null"),
                "blocked": try JSONValue(stored: try db.value("blocked") ?? "[]"),
            ]
            return shown
        }
    }

    // MARK: Comparing

    /// Members by user. Those who have left do not count.
    private static func byID(_ members: [JSONValue]) -> JSONValue {
        let present = members.filter { ["invited", "joined"].contains($0["status"]?.string ?? "") }
        return .object(Dictionary(present.map { ($0["user"]?["id"]?.string ?? "", $0) }) { $1 })
    }

    private static func differences(_ shown: JSONValue, _ right: JSONValue?, _ path: String) -> [String] {
        let (shown, right) = (comparable(shown), comparable(right ?? .null))
        guard shown != right else { return [] }
        guard let left = shown.dictionary, let other = right.dictionary else {
            return ["\(path) is \(shown.text) and should be \(right.text)"]
        }
        return Set(left.keys).union(other.keys).sorted().flatMap { key in
            differences(left[key] ?? .null, other[key], "\(path).\(key)")
        }
    }

    /// Without presence, and without keys that are null, which mean the same as absent ones.
    private static func comparable(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let items): return .array(items.map(comparable))
        case .object(let members):
            let lasting = members.filter { !$0.value.isNull && !["presence", "last_seen_at"].contains($0.key) }
            return .object(lasting.map { .init($0.key, comparable($0.value)) })
        default: return value
        }
    }
}

extension Fold {
    /// The threads whose newest page the client has to fetch.
    fileprivate mutating func threadsWithoutLastMessage() throws -> [String] {
        let ids: [String] = try db.all("select id from thread")
        var lacking: [String] = []
        for id in ids where try lacksLastMessage(id) { lacking.append(id) }
        return lacking
    }
}
