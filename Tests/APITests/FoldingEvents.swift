// A client that keeps its list of threads by events alone: whatever happens, it is what a fresh inbox says.
import Domain
import TestSupport
import Testing

/// What a client knows of a thread, as far as its inbox and the events both tell.
private struct Entry: Equatable {
    var title: String?
    var image: String?
    var role = "member"
    var status = "invited"
    var pinned = false
    var archived = false
    var mutedUntil: String?
    var hiddenBefore: Int64 = 0
    /// The last message's id and seq; nil as long as it isn't known, which is from joining a room to its next message.
    var last: (id: String, seq: Int64)?

    static func == (left: Entry, right: Entry) -> Bool {
        (left.title, left.image, left.role, left.status) == (right.title, right.image, right.role, right.status)
            && (left.pinned, left.archived, left.mutedUntil) == (right.pinned, right.archived, right.mutedUntil)
            && left.hiddenBefore == right.hiddenBefore
            && (left.last == nil || right.last == nil || left.last?.id == right.last?.id)
    }

    mutating func apply(settings: JSONValue?) {
        pinned = settings?["pinned"] == .bool(true)
        archived = settings?["archived"] == .bool(true)
        mutedUntil = settings?["muted_until"]?.string
        hiddenBefore = settings?["hidden_before_seq"]?.integer ?? 0
    }
}

/// A device: an account, a cursor, and what it has made of the events so far.
private struct Device {
    let person: Person
    var cursor: String
    var threads: [String: Entry] = [:]
    var eventCount = 0

    init(_ person: Person) async throws {
        self.person = person
        cursor = try await person.client.get("/v1/sync").string("cursor")
    }

    /// Polls until there is nothing more.
    mutating func catchUp(limit: Int) async throws {
        for _ in 0..<1_000 {
            let reply = try await person.client.get("/v1/sync?cursor=\(cursor)&wait=0&limit=\(limit)")
            for event in reply["events"]?.array ?? [] { try await apply(event) }
            cursor = try reply.string("cursor")
            if reply["more"] == .bool(false) { return }
        }
        Issue.record("a thousand polls, and still more")
    }

    private mutating func apply(_ event: JSONValue) async throws {
        eventCount += 1
        guard let thread = event["thread_id"]?.string, let data = event["data"] else { return }
        switch event["type"]?.string {
        case "thread.created":
            let mine = data["members"]?.array?.first { $0["user"]?["id"]?.string == person.id }
            var entry = threads[thread] ?? Entry()
            (entry.title, entry.image) = (data["title"]?.string, data["image"]?.string)
            if let mine { (entry.role, entry.status) = (mine["role"]?.string ?? "", mine["status"]?.string ?? "") }
            // Settings outlive leaving, and what brings a thread back doesn't repeat them: a client asks for the thread.
            let now = try await person.client.get("/v1/threads/\(thread)")
            if now.status == 200 { entry.apply(settings: now["me"]) }
            threads[thread] = entry
        case "thread.updated":
            threads[thread]?.title = data["title"]?.string
            threads[thread]?.image = data["image"]?.string
        case "member.updated" where data["user"]?["id"]?.string == person.id:
            let status = data["status"]?.string ?? ""
            if status == "left" || status == "removed" { return threads[thread] = nil }
            threads[thread]?.role = data["role"]?.string ?? ""
            threads[thread]?.status = status
        case "message.created":
            threads[thread]?.last = (data["id"]?.string ?? "", data["seq"]?.integer ?? 0)
        case "settings.updated":
            threads[thread]?.apply(settings: data)
        default: break
        }
    }

    /// The same from the inbox.
    func fresh() async throws -> [String: Entry] {
        let inbox = try await person.client.get("/v1/inbox?limit=200")
        var entries: [String: Entry] = [:]
        for thread in inbox["threads"]?.array ?? [] {
            var entry = Entry(title: thread["title"]?.string, image: thread["image"]?.string)
            entry.role = thread["me"]?["role"]?.string ?? ""
            entry.status = thread["me"]?["status"]?.string ?? ""
            entry.apply(settings: thread["me"])
            if let id = thread["last_message"]?["id"]?.string { entry.last = (id, 0) }
            entries[thread["id"]?.string ?? ""] = entry
        }
        return entries
    }
}

@Suite("Folding events")
struct FoldingEvents {
    /// Something that somebody does to one of the threads; most of it is refused to most of them.
    private static func act(
        _ person: Person, _ threads: [String], _ people: [Person], _ random: inout SplitMix64
    ) async throws -> Reply {
        let thread = "/v1/threads/\(threads[random.below(threads.count)])"
        let other = people[random.below(people.count)].id
        switch random.below(12) {
        // Seldom: a group that all have left stays so.
        case 0 where random.chance(4): return try await person.client.delete("\(thread)/members/me")
        case 1: return try await person.client.delete("\(thread)/members/\(other)")
        case 2: return try await person.client.put("\(thread)/members/\(other)", #"{"status":"invited"}"#)
        case 3: return try await person.client.put("\(thread)/members/\(other)", #"{"role":"admin"}"#)
        case 4: return try await person.client.put("\(thread)/members/\(other)")
        case 5, 6: return try await person.client.put("\(thread)/members/me", #"{"status":"joined"}"#)
        case 7: return try await person.client.patch(thread, #"{"title":"\#(random.below(1_000_000))"}"#)
        case 8:
            let change = random.chance(2) ? #""pinned":true"# : #""archived":true,"pinned":false"#
            return try await person.client.patch("\(thread)/settings", "{\(change)}")
        case 9:
            return try await person.client.patch("\(thread)/settings", #"{"hidden_before_seq":\#(random.below(4))}"#)
        default: return try await person.client.post("\(thread)/messages", #"{"payload":{"text":"hi"}}"#)
        }
    }

    @Test(
        "gives the fresh inbox after any history of joining, leaving, renaming, settings and messages", arguments: 1...3
    )
    func equalsInbox(_ seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        var people: [Person] = []
        for number in 0..<4 { people.append(try await Person.make("P\(number)")) }
        var devices: [Device] = []
        // The first has two.
        for person in people + [people[0]] { devices.append(try await Device(person)) }
        var threads: [String] = []
        for number in 0..<4 {
            let kind = number == 3 ? "room" : "group"
            let made = try await people[number % 2].client.post(
                "/v1/threads", #"{"kind":"\#(kind)","title":"T \#(UserID.make().description.suffix(12))"}"#)
            let thread = try made.string("id")
            threads.append(thread)
            for person in people {
                _ = try await people[number % 2].client.put("/v1/threads/\(thread)/members/\(person.id)")
            }
        }
        var doneCount = 0
        for _ in 0..<300 {
            let reply = try await Self.act(people[random.below(4)], threads, people, &random)
            if reply.status < 300 { doneCount += 1 }
            if random.chance(5) { try await devices[random.below(5)].catchUp(limit: 1 + random.below(20)) }
        }
        #expect(doneCount > 30, "seed \(seed)")
        for index in devices.indices {
            try await devices[index].catchUp(limit: 100)
            let fresh = try await devices[index].fresh()
            #expect(devices[index].threads == fresh, "seed \(seed), device \(index)")
        }
        #expect(devices.allSatisfy { $0.eventCount > 20 })
    }
}
