// What the server answers a person, all of it, and how a device's dump differs from it.

import Testing

/// Fresh answers for one person.
struct ServerView: Sendable {
    private let threads: [JSON]
    private let unreadTotal: Int?
    private let account: JSON
    private let blocked: [String]
    /// By thread; only those that the person has joined.
    private let histories: [String: [JSON]]
    private let members: [String: [JSON]]

    init(of person: Person, at caller: some Caller) async throws {
        var threads: [JSON] = []
        var page = ""
        var first: JSON?
        repeat {
            let inbox = try await FoldingDevice.get("/v1/inbox?limit=200\(page)", of: person, at: caller)
            first = first ?? inbox
            threads += inbox["threads"].items
            page = inbox["next"].string.map { "&page=\($0)" } ?? ""
        } while page != ""
        self.threads = threads
        unreadTotal = first?["unread_total"].int
        account = try await FoldingDevice.get("/v1/users/me", of: person, at: caller)
        let blocks = try await FoldingDevice.get("/v1/users/me/blocks?limit=200", of: person, at: caller)
        blocked = blocks["blocks"].items.compactMap { $0["user"]["id"].string }.sorted()
        var histories: [String: [JSON]] = [:]
        var members: [String: [JSON]] = [:]
        for thread in threads where thread["me"]["status"] == "joined" {
            let id = thread["id"].string ?? ""
            histories[id] = try await caller.history(of: id, as: person)
            let path = "/v1/threads/\(id)/members?limit=200"
            members[id] = try await FoldingDevice.get(path, of: person, at: caller)["members"].items
        }
        self.histories = histories
        self.members = members
    }

    /// Describes where the dump of a device differs.
    func differences(from dump: JSON) -> [String] {
        let stored = dump["stored"]
        let order = JSON.array(threads.map { $0["id"] })
        var lines = ValueDifferences.lines(dump["order"], order, "the order of threads")
        lines += ValueDifferences.lines(dump["shown_order"], order, "the followed order of threads")
        lines += dump["stale"].items.map { "a row of the followed inbox is not as a new reader sees it: \($0)" }
        let unread = stored["threads"].items.reduce(0) { $0 + ($1["unread_count"].int ?? 0) }
        if unread != unreadTotal { lines.append("unread_total is \(unread), not \(unreadTotal ?? -1)") }
        lines += ValueDifferences.lines(
            byID(stored["threads"].items), byID(threads.map { $0.without("last_message") }), "thread")
        for thread in threads {
            let id = thread["id"].string ?? ""
            lines += ValueDifferences.lines(
                dump["last"][id], .string(thread["last_message"]["id"].string ?? ""), "the last message of \(id)")
            lines += messages(stored["messages"][id].items, of: id)
            lines += timeline(dump["timelines"][id].items, of: id)
            guard stored["members"][id] != .null else { continue }
            lines += ValueDifferences.lines(
                present(stored["members"][id].items), present(members[id] ?? []), "members of \(id)")
        }
        let others = stored["messages"].keys.subtracting(histories.keys)
        if !others.isEmpty { lines.append("messages of threads that the person has not joined: \(others)") }
        lines += ValueDifferences.lines(stored["account"][0], account, "account")
        let people = stored["blocked"][0].items.compactMap(\.string).sorted()
        if people != blocked { lines.append("blocked people are \(people), not \(blocked)") }
        return lines
    }

    /// Each stored message must be as in the history, but for content that the server has forgotten.
    private func messages(_ stored: [JSON], of thread: String) -> [String] {
        let right = Dictionary((histories[thread] ?? []).map { ($0["seq"], $0) }) { $1 }
        return stored.flatMap { message -> [String] in
            guard let other = right[message["seq"]] else { return ["\(thread) has no message \(message)"] }
            return VectorRecording.isSame(message, other)
                ? [] : ValueDifferences.lines(message, other, "message \(thread) \(message["seq"])")
        }
    }

    /// A timeline has all messages from its first to its newest.
    private func timeline(_ shown: [JSON], of thread: String) -> [String] {
        guard let first = shown.first else { return [] }
        let ids = (histories[thread] ?? []).map { $0["id"] }
        let right = Array(ids.drop { $0 != first })
        return ValueDifferences.lines(.array(shown), .array(right), "the timeline of \(thread)")
    }

    private func present(_ members: [JSON]) -> JSON {
        let present = members.filter { ["invited", "joined"].contains($0["status"].string ?? "") }
        // No event reports the profile of a person who is only invited and has written nothing.
        let shown = present.map { $0["status"] == "invited" ? .object(["status": "invited", "role": $0["role"]]) : $0 }
        return .object(Dictionary(zip(present.map { $0["user"]["id"].string ?? "" }, shown)) { $1 })
    }

    private func byID(_ threads: [JSON]) -> JSON {
        .object(Dictionary(threads.map { ($0["id"].string ?? "", $0) }) { $1 })
    }
}

/// Where two values differ, apart from presence. A key that is absent and a key that is null mean the same.
enum ValueDifferences {
    static func lines(_ shown: JSON, _ right: JSON, _ path: String) -> [String] {
        let (shown, right) = (lasting(shown), lasting(right))
        guard shown != right else { return [] }
        guard case .object = shown, case .object = right else {
            return ["\(path) is \("\(shown)".prefix(600)) and should be \("\(right)".prefix(600))"]
        }
        return shown.keys.union(right.keys).sorted().flatMap { lines(shown[$0], right[$0], "\(path) \($0)") }
    }

    private static func lasting(_ value: JSON) -> JSON {
        switch value {
        case .array(let items): .array(items.map(lasting))
        case .object(let members):
            .object(members.filter { $1 != .null && !presence.contains($0) }.mapValues(lasting))
        default: value
        }
    }

    private static let presence: Set = ["presence", "last_seen_at"]
}

extension JSON {
    func without(_ key: String) -> JSON {
        guard case .object(var members) = self else { return self }
        members[key] = nil
        return .object(members)
    }
}
