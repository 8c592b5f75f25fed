// A device that derives its inbox from events, and can compare it with a fresh one.

import TestSupport

/// A difference between the inbox that the device shows and a fresh one.
struct Difference: Error, CustomStringConvertible {
    let device: Int
    /// Ids of the threads that the device shows wrongly.
    let threads: [String]
    let description: String
}

/// An answer that is still on its way to a device.
struct LateAnswer: Sendable {
    fileprivate let kind: String
    fileprivate let content: JSON
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
    private var askCount = 0
    /// What the device received and showed, if it becomes a client vector.
    private(set) var recording: VectorRecording?

    /// - Parameter limit: the number of threads in the first page of the inbox.
    init(
        _ number: Int, _ person: Person, at caller: some Caller, limit: Int = 200, isRecorded: Bool = false
    ) async throws {
        self.number = number
        self.person = person
        fold = InboxFold(["threads": []], of: person.id)
        cursor = ""
        if isRecorded {
            var recording = VectorRecording()
            recording.add("account", try await VectorRecording.account(of: person, at: caller))
            self.recording = recording
        }
        try await load(at: caller, limit: limit)
    }

    /// Forgets everything, and loads the inbox again.
    mutating func reload(at caller: some Caller) async throws {
        fold = InboxFold(["threads": []], of: person.id)
        try await load(at: caller)
        latest = []
    }

    /// Loads the inbox after an answer 410, of which the threads are given.
    mutating func reload(expired: JSON, at caller: some Caller) async throws {
        recording?.add("expired", ["threads": expired["threads"]])
        try await load(at: caller, stale: Set(expired["threads"].items.compactMap { $0["id"].string }))
    }

    /// Loads the inbox. Returns the parameter for its next page, if there is one.
    @discardableResult
    private mutating func load(at caller: some Caller, limit: Int = 200, stale: Set<String> = []) async throws
        -> String?
    {
        let inbox = try await Self.get("/v1/inbox?limit=\(limit)", of: person, at: caller)
        recording?.add("inbox", ["threads": inbox["threads"]])
        fold.reload(inbox, stale: stale)
        cursor = inbox["cursor"].string ?? ""
        return inbox["next"].string
    }

    /// Loads the inbox and forgets everything else. Between two pages, `body` runs and the device follows the log.
    mutating func reload(
        at caller: some Caller, pagesOf limit: Int, between body: () async throws -> Void
    ) async throws {
        fold = InboxFold(["threads": []], of: person.id)
        var next = try await load(at: caller, limit: limit)
        while let page = next {
            try await body()
            let inbox = try await Self.get("/v1/inbox?limit=\(limit)&page=\(page)", of: person, at: caller)
            recording?.add("inbox_page", ["threads": inbox["threads"]])
            fold.add(inbox)
            next = inbox["next"].string
        }
    }

    /// Loads a thread that no page of the inbox had.
    private mutating func load(_ thread: String, at caller: some Caller) async throws {
        let answer = try await caller.get("/v1/threads/\(thread)", as: person)
        fold.forgetUnknown(thread)
        guard answer.status == 200 else { return }
        recording?.add("thread", answer.json)
        fold.add(["threads": [answer.json]])
    }

    /// Fetches a page of a thread's messages, as a user who scrolls.
    mutating func scroll(
        _ thread: String, before: Int? = nil, after: Int? = nil, limit: Int, at caller: some Caller
    ) async throws {
        let place = before.map { "&before=\($0)" } ?? after.map { "&after=\($0)" } ?? ""
        let page = try await caller.get("/v1/threads/\(thread)/messages?limit=\(limit)\(place)", as: person)
        // The person may have left the thread meanwhile; the next events report that.
        guard page.status == 200 else { return }
        var request: [String: JSON] = ["thread_id": .string(thread), "answer": page.json]
        if let before { request["before"] = .init(before) }
        if let after { request["after"] = .init(after) }
        recording?.add("messages", .object(request))
        fold.learn(page.json, of: thread, before: before, after: after)
    }

    /// Sends a request whose answer arrives later: `receive` records it. The device stores nothing of it, because events
    /// have overtaken it by then. A client must show the same, whether it drops such an answer or a part of it.
    mutating func ask(
        _ kind: String, of thread: String, _ path: String, _ place: [String: JSON] = [:], at caller: some Caller
    ) async throws -> LateAnswer {
        let answer = try await Self.get("/v1/threads/\(thread)\(path)", of: person, at: caller)
        askCount += 1
        var request = place.merging(["asked": .init(askCount), "thread_id": .string(thread)]) { own, _ in own }
        recording?.add("ask", .object(request.merging(["kind": .string(kind)]) { own, _ in own }))
        request["answer"] = kind == "members" ? nil : answer
        request["members"] = kind == "members" ? answer["members"] : nil
        return LateAnswer(kind: kind, content: .object(request))
    }

    mutating func receive(_ late: LateAnswer) { recording?.add(late.kind, late.content) }

    /// The answer of a poll, which is not applied.
    func poll(at caller: some Caller) async throws -> Answer { try await caller.sync(person, from: cursor) }

    /// Adds the content of all stored messages to the recording.
    mutating func expectMessages() { recording?.expectMessages(fold) }

    /// Fetches the members of a thread. Vectors compare them from then on.
    mutating func loadMembers(of thread: String, at caller: some Caller) async throws {
        let members = try await Self.get("/v1/threads/\(thread)/members?limit=200", of: person, at: caller)["members"]
        recording?.add("members", ["thread_id": .string(thread), "members": members])
    }

    /// Applies at most `pages` pages of events. After the last event it fetches missing last messages.
    mutating func follow(pages: Int, limit: Int, waitS: Int, at caller: some Caller) async throws {
        for _ in 0..<pages {
            let path = "/v1/sync?cursor=\(cursor)&wait=\(waitS)&limit=\(limit)"
            let page = try await Self.get(path, of: person, at: caller)
            recording?.add("events", page["events"])
            for event in page["events"].items where !SyncPage.passing.contains(event["type"].string ?? "") {
                fold.apply(event)
                eventCount += 1
                latest.append(event)
            }
            latest.removeFirst(max(0, latest.count - Self.latestCountMax))
            cursor = page["cursor"].string ?? ""
            guard page["more"] == true else { break }
        }
        for thread in fold.unknownThreads.sorted() { try await load(thread, at: caller) }
        for thread in fold.threadsToAsk { try await scroll(thread, limit: 1, at: caller) }
    }

    private mutating func catchUp(at caller: some Caller) async throws {
        try await follow(pages: 1_000, limit: 100, waitS: 0, at: caller)
    }

    /// Catches up, and compares with a fresh inbox loaded between two polls, of which the second returns no event.
    /// Delivered marks are written at any time, so this may need several attempts.
    mutating func check(at caller: some Caller) async throws -> Difference? {
        for _ in 0..<20 {
            try await catchUp(at: caller)
            let caughtUp = self
            let inbox = try await Self.get("/v1/inbox?limit=200", of: person, at: caller)
            let details = try await recording?.details(of: caughtUp, at: caller)
            let count = eventCount
            try await catchUp(at: caller)
            guard eventCount == count else { continue }
            if let details { recording?.expect(caughtUp.fold, details) }
            return difference(caughtUp.fold.inbox(without: inbox), InboxFold.comparable(inbox))
        }
        throw TimedOut(description: "a moment without events for device \(number)")
    }

    private func difference(_ shown: JSON, _ right: JSON) -> Difference? {
        guard shown != right else { return nil }
        func byID(_ inbox: JSON) -> [String: JSON] {
            Dictionary(inbox["threads"].items.map { ($0["id"].string ?? "", $0) }) { $1 }
        }
        let (own, others) = (byID(shown), byID(right))
        let threads = Set(own.keys).union(others.keys).filter { own[$0] != others[$0] }.sorted()
        var lines = threads.flatMap { ValueDifferences.lines(own[$0] ?? .null, others[$0] ?? .null, $0) }
        if threads.isEmpty { lines.append("the order of threads, or unread_total: \(shown) and should be \(right)") }
        lines.append("the latest events:")
        lines += latest.filter { threads.contains($0["thread_id"].string ?? "") }.suffix(30).map(\.description)
        return Difference(device: number, threads: threads, description: lines.joined(separator: "\n"))
    }

    static func get(_ path: String, of person: Person, at caller: some Caller) async throws -> JSON {
        let answer = try await caller.get(path, as: person)
        guard answer.status == 200 else { throw TimedOut(description: "\(path): \(answer)") }
        return answer.json
    }
}
