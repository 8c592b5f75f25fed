// A device that derives its inbox from events, and can compare it with a fresh one.

/// A difference between the inbox that the device shows and a fresh one.
struct Difference: Error, CustomStringConvertible {
    let device: Int
    /// Ids of the threads that the device shows wrongly.
    let threads: [String]
    let description: String
}

struct FoldingDevice: Sendable {
    let number: Int
    let person: Person
    private(set) var fold: InboxFold
    private var cursor: String
    /// How many events were applied; `latest` holds the last of them.
    private(set) var eventCount = 0
    private var latest: [JSON] = []
    private static let latestCountMax = 200

    init(_ number: Int, _ person: Person, at caller: some Caller) async throws {
        self.number = number
        self.person = person
        (fold, cursor) = try await Self.load(person, at: caller)
    }

    /// Forgets everything, and loads the inbox again.
    mutating func reload(at caller: some Caller) async throws {
        (fold, cursor) = try await Self.load(person, at: caller)
        latest = []
    }

    private static func load(_ person: Person, at caller: some Caller) async throws -> (InboxFold, String) {
        let inbox = try await get("/v1/inbox?limit=200", of: person, at: caller)
        return (InboxFold(inbox, of: person.id), inbox["cursor"].string ?? "")
    }

    /// Applies at most `pages` pages of events. After the last event it fetches missing last messages.
    mutating func follow(pages: Int, limit: Int, waitS: Int, at caller: some Caller) async throws {
        for _ in 0..<pages {
            let path = "/v1/sync?cursor=\(cursor)&wait=\(waitS)&limit=\(limit)"
            let page = try await Self.get(path, of: person, at: caller)
            for event in page["events"].items where !SyncPage.passing.contains(event["type"].string ?? "") {
                fold.apply(event)
                eventCount += 1
                latest.append(event)
            }
            latest.removeFirst(max(0, latest.count - Self.latestCountMax))
            cursor = page["cursor"].string ?? ""
            guard page["more"] == true else { break }
        }
        for thread in fold.threadsToAsk {
            let path = "/v1/threads/\(thread)/messages?limit=1"
            let page = try await caller.get(path, as: person)
            // The person may have left the thread meanwhile; the next events report that.
            if page.status == 200 { fold.learn(page.json, of: thread) }
        }
    }

    private mutating func catchUp(at caller: some Caller) async throws {
        try await follow(pages: 1_000, limit: 100, waitS: 0, at: caller)
    }

    /// Catches up, and compares with a fresh inbox loaded between two polls, of which the second returns no event.
    /// Delivered marks are written at any time, so this may need several attempts.
    mutating func check(at caller: some Caller) async throws -> Difference? {
        for _ in 0..<20 {
            try await catchUp(at: caller)
            let caughtUp = fold
            let inbox = try await Self.get("/v1/inbox?limit=200", of: person, at: caller)
            let count = eventCount
            try await catchUp(at: caller)
            if eventCount == count { return difference(caughtUp.inbox(without: inbox), InboxFold.comparable(inbox)) }
        }
        throw TimedOut(description: "a moment without events for device \(number)")
    }

    private func difference(_ shown: JSON, _ right: JSON) -> Difference? {
        guard shown != right else { return nil }
        var lines: [String] = []
        func compare(_ path: String, _ shown: JSON, _ right: JSON) {
            guard shown != right else { return }
            guard case .object = shown, case .object = right else {
                return lines.append("\(path) is \(shown) and should be \(right)")
            }
            for key in shown.keys.union(right.keys).sorted() { compare("\(path) \(key)", shown[key], right[key]) }
        }
        func byID(_ inbox: JSON) -> [String: JSON] {
            Dictionary(inbox["threads"].items.map { ($0["id"].string ?? "", $0) }) { $1 }
        }
        let (own, others) = (byID(shown), byID(right))
        let threads = Set(own.keys).union(others.keys).filter { own[$0] != others[$0] }.sorted()
        for thread in threads { compare(thread, own[thread] ?? .null, others[thread] ?? .null) }
        if threads.isEmpty { lines.append("the order of threads, or unread_total: \(shown) and should be \(right)") }
        lines.append("the latest events:")
        lines += latest.filter { threads.contains($0["thread_id"].string ?? "") }.suffix(30).map(\.description)
        return Difference(device: number, threads: threads, description: lines.joined(separator: "\n"))
    }

    private static func get(_ path: String, of person: Person, at caller: some Caller) async throws -> JSON {
        let answer = try await caller.get(path, as: person)
        guard answer.status == 200 else { throw TimedOut(description: "\(path): \(answer)") }
        return answer.json
    }
}
