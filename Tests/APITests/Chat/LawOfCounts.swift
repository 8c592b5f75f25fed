// Unread counts are exact: after any history of sending, reading, marking unread and deleting, they equal a recount.
import Domain
import TestSupport
import Testing

@Suite("Unread counts", .timeLimit(.minutes(1)))
struct LawOfCounts {
    /// A thread as its members should see it.
    private struct Model {
        struct Message {
            let id: String
            let sender: Int
            let mentions: Set<Int>
            var isDeleted = false
        }

        var messages: [Message] = []
        /// The read marks that others see, and those that each person sees.
        var read: [Int]
        var own: [Int]

        init(count: Int) {
            read = Array(repeating: 0, count: count)
            own = read
        }

        mutating func send(_ message: Message) {
            messages.append(message)
            read[message.sender] = messages.count
            own[message.sender] = messages.count
        }

        mutating func read(_ person: Int, _ seq: Int) {
            read[person] = max(read[person], seq)
            own[person] = max(own[person], seq)
        }

        mutating func goBack(_ person: Int, _ from: Int) { own[person] = min(own[person], from - 1) }

        /// The unread count, the unread mentions, and the two marks.
        func expected(_ person: Int) -> [Int] {
            let unread = messages.dropFirst(own[person]).filter { $0.sender != person && !$0.isDeleted }
            return [
                unread.count, unread.count { $0.mentions.contains(person) }, own[person], read[person],
            ]
        }
    }

    @Test(
        "are exact after every step of a random history of three people",
        arguments: Seed.fresh("the law of counts", count: 3))
    func holds(_ seed: UInt64) async throws {
        var people: [Person] = []
        for _ in 0..<3 { people.append(try await Person.make()) }
        let thread = try await people[0].group(with: Array(people.dropFirst()))
        var model = Model(count: people.count)
        var random = SplitMix64(seed: seed)
        for step in 0..<80 {
            let person = random.below(people.count)
            let done = try await act(random.below(10), as: person, people, thread, &model, &random)
            for viewer in people.indices {
                let found = try await counts(of: people[viewer], seenBy: people[(viewer + 1) % people.count], thread)
                try #require(found == model.expected(viewer), "seed \(seed), step \(step): \(done), for \(viewer)")
            }
        }
    }

    private func act(
        _ kind: Int, as person: Int, _ people: [Person], _ thread: String, _ model: inout Model,
        _ random: inout SplitMix64
    ) async throws -> String {
        let client = people[person].client
        let path = "/v1/threads/\(thread)"
        let seq = model.messages.isEmpty ? 0 : 1 + random.below(model.messages.count)
        switch kind {
        case _ where seq == 0, 0..<4:
            let mentioned = Set((0..<random.below(3)).map { _ in random.below(people.count) })
            let list = mentioned.map { "\"\(people[$0].id)\"" }.joined(separator: ",")
            let sent = try await client.post("\(path)/messages", #"{"payload":{"text":"x"},"mentions":[\#(list)]}"#)
            model.send(.init(id: try sent.string("id"), sender: person, mentions: mentioned))
            return "\(person) sends"
        case 4..<6:
            #expect(try await client.put("\(path)/receipts", #"{"read":\#(seq)}"#).status == 204)
            model.read(person, seq)
            return "\(person) reads up to \(seq)"
        case 6..<9:
            #expect(try await client.put("\(path)/unread", #"{"from":\#(seq)}"#).status == 204)
            model.goBack(person, seq)
            return "\(person) goes back before \(seq)"
        default:
            let message = model.messages[seq - 1]
            let sender = people[message.sender].client
            #expect(try await sender.delete("\(path)/messages/\(message.id)").status == 204)
            model.messages[seq - 1].isDeleted = true
            return "\(seq) is deleted"
        }
    }

    private func counts(of person: Person, seenBy other: Person, _ thread: String) async throws -> [Int] {
        let inbox = try await person.client.get("/v1/inbox")
        let members = try await other.client.get("/v1/threads/\(thread)/members")["members"]?.array ?? []
        let seen = members.first { $0["user"]?["id"]?.string == person.id }?["read_seq"]?.integer ?? -1
        #expect(try inbox.integer("unread_total") == inbox.integer("threads.0.unread_count"))
        let own = ["unread_count", "mention_count", "me.read_seq"].map { inbox["threads.0.\($0)"]?.integer ?? -1 }
        return (own + [seen]).map { Int($0) }
    }
}
