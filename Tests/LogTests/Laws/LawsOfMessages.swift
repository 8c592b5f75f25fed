// Each member's view of a thread after changes of its messages, compared with a plain model of the rules.
import Domain
import Foundation
import Log
import Store
import TestSupport
import Testing

/// A model of a thread by the rules alone.
private struct ThreadModel {
    struct Message {
        let id = MessageID.make()
        let sender: Int
        let mentions: Set<Int>
        var isDeleted = false
        var hiddenFrom: Set<Int> = []
    }

    /// The seq is the index plus one.
    var messages: [Message] = []
    var marks: [Int]

    func read(_ user: Int) -> Int {
        max(marks[user], (messages.lastIndex { $0.sender == user } ?? -1) + 1)
    }

    func visible(_ user: Int) -> [Int] { messages.indices.filter { !messages[$0].hiddenFrom.contains(user) } }

    func unread(_ user: Int) -> [Message] {
        visible(user).filter { $0 >= read(user) && !messages[$0].isDeleted }.map { messages[$0] }
    }
}

@Suite("Changes of messages", .serialized, .timeLimit(.minutes(2)))
struct LawsOfMessages {
    @Test(
        "history, last message and exact counts equal a plain model's after random calls",
        arguments: Seed.fresh("changes of messages", count: 3))
    func countsAreExact(_ seed: UInt64) async throws {
        let node = try await LogNode(conninfo: MigratedDatabase.create())
        try await node.running {
            let people = try await People(3, in: node.store)
            let thread = try await people.group(people.users, in: node.store)
            var random = SplitMix64(seed: seed)
            var model = ThreadModel(marks: [0, 0, 0])
            for step in 1...150 {
                try await change(&model, thread, people.users, node, &random)
                guard step.isMultiple(of: 5) else { continue }
                for (index, user) in people.users.enumerated() {
                    try await compare(model, index, user, thread, node, "seed \(seed), step \(step), user \(index)")
                }
            }
        }
    }

    private func change(
        _ model: inout ThreadModel, _ thread: ThreadID, _ users: [UserID], _ node: LogNode, _ random: inout SplitMix64
    ) async throws {
        let who = Int.random(in: 0..<3, using: &random)
        let user = users[who]
        // Usually late ones, so that they are among the unread.
        let target = model.messages.indices.suffix(6).randomElement(using: &random)
        switch (Int.random(in: 0..<10, using: &random), target) {
        case (0...3, _), (_, nil):
            let mentions = Set((0..<3).filter { _ in Bool.random(using: &random) })
            let message = ThreadModel.Message(sender: who, mentions: mentions)
            var new = NewMessage.text("hi", in: thread, by: user, id: message.id)
            new.mentions = mentions.map { users[$0] }
            _ = try await node.writer.append(new)
            model.messages.append(message)
        case (4, let target?) where !model.messages[target].isDeleted:
            guard !model.messages[target].hiddenFrom.contains(model.messages[target].sender) else { return }
            _ = try await node.store.editMessage(
                model.messages[target].id, in: thread, by: users[model.messages[target].sender],
                payload: MessagePayload(text: JSONText(utf8: Array("{\"text\":\"\(random.next())\"}".utf8))))
        case (5, let target?):
            try await node.store.deleteMessage(
                model.messages[target].id, in: thread, by: users[model.messages[target].sender])
            model.messages[target].isDeleted = true
        case (6...7, let target?):
            try await node.store.hideMessage(model.messages[target].id, in: thread, from: user)
            model.messages[target].hiddenFrom.insert(who)
        case (_, let target?):
            try await node.writer.put(ReceiptMove(user: user, thread: thread, read: Seq(Int64(target + 1))))
            model.marks[who] = max(model.marks[who], target + 1)
        }
    }

    private func compare(
        _ model: ThreadModel, _ index: Int, _ user: UserID, _ thread: ThreadID, _ node: LogNode, _ place: Comment
    ) async throws {
        let inbox = try await node.store.inbox(for: user, unreadOnly: false, PageRequest())
        let entry = try #require(try JSONReader.read(inbox.threads.utf8).array?.first)
        let unread = model.unread(index)
        #expect(inbox.unreadTotal == unread.count, place)
        #expect(entry["unread_count"]?.integer == Int64(unread.count), place)
        #expect(entry["mention_count"]?.integer == Int64(unread.count { $0.mentions.contains(index) }), place)
        #expect(entry["head"]?.integer == Int64(model.messages.count), place)
        let visible = model.visible(index).map { Int64($0 + 1) }
        #expect(entry["last_message"]?["seq"]?.integer == visible.last, place)

        let page = try await node.store.messages(
            in: thread, for: user, before: nil, after: .seq(Seq(0)), limit: 200)
        let messages = try #require(try JSONReader.read(page.utf8)["messages"]?.array)
        #expect(messages.compactMap { $0["seq"]?.integer } == visible, place)
        #expect(
            messages.map { $0["payload"] == .null } == model.visible(index).map { model.messages[$0].isDeleted }, place)
    }

    @Test("reactions that many people add and remove on two nodes at once end as in the last events")
    func reactionsAreExact() async throws {
        let database = try await MigratedDatabase.create()
        let nodes = try await [LogNode(conninfo: database), LogNode(conninfo: database)]
        try await nodes[0].running {
            try await nodes[1].running {
                let people = try await People(8, in: nodes[0].store)
                let thread = try await people.group(people.users, in: nodes[0].store)
                let message = NewMessage.text("hi", in: thread, by: people.users[0])
                _ = try await nodes[0].writer.append(message)
                let start = try await nodes[0].store.now()
                let emojis = try ["👍", "❤️"].map { try Emoji(text: $0) }
                let seed = Seed.fresh("reactions on two nodes")
                try await withThrowingDiscardingTaskGroup { group in
                    for (index, user) in people.users.enumerated() {
                        group.addTask {
                            let store = nodes[index % 2].store
                            var random = SplitMix64(seed: seed &+ UInt64(index))
                            for _ in 0..<20 {
                                let emoji = emojis[Int.random(in: 0...1, using: &random)]
                                if Bool.random(using: &random) {
                                    try await store.putReaction(emoji, to: message.id, in: thread, by: user)
                                } else {
                                    try await store.deleteReaction(emoji, to: message.id, in: thread, by: user)
                                }
                            }
                        }
                    }
                }
                let events = try await self.events(for: people.users[0], after: start, nodes[0])
                var counts: [String: Int64] = [:]
                var putters: [String: Set<String>] = [:]
                for data in events {
                    let (emoji, user) = (data["emoji"]?.string ?? "", data["user_id"]?.string ?? "")
                    if data["put"] == .bool(true) {
                        #expect(putters[emoji, default: []].insert(user).inserted, "put twice")
                    } else {
                        #expect(putters[emoji, default: []].remove(user) != nil, "taken back twice")
                    }
                    counts[emoji] = data["count"]?.integer
                    #expect(counts[emoji] == Int64(putters[emoji]?.count ?? 0))
                }
                let shown = try JSONReader.read(
                    await nodes[1].store.message(message.id, in: thread, for: people.users[1]).utf8)["reactions"]
                for emoji in emojis.map(\.text) {
                    #expect(shown?[emoji]?["count"]?.integer ?? 0 == counts[emoji] ?? 0)
                    let isMine = putters[emoji]?.contains(people.users[1].description) ?? false
                    #expect((shown?[emoji]?["me"] == .bool(true)) == isMine)
                }
            }
        }
    }

    /// The data of the user's events.
    private func events(for user: UserID, after cursor: Cursor, _ node: LogNode) async throws -> [JSONValue] {
        let found = try await node.store.catchUp(user, from: cursor, limit: 1000, byteCountMax: 1 << 24)
        guard case .whole(let events, _, _) = found else { throw CancellationError() }
        return try events.compactMap { try JSONReader.read($0.body.utf8)["data"] }
    }
}
