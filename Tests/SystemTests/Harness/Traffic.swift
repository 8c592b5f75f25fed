// People who write and follow at once while something is done to the nodes or to the database, and the judgement of what
// they saw: the law of delivery.

import Foundation
import Synchronization
import Testing

/// What the disturbing part of a test knows of the traffic.
final class Traffic: Sendable {
    private let sentCount = Atomic(0)
    private let over = Atomic(false)

    var isOver: Bool { over.load(ordering: .relaxed) }

    func count() { sentCount.add(1, ordering: .relaxed) }

    /// Waits until so many more messages are acknowledged.
    func flow(_ messageCount: Int, within limit: Duration = .seconds(30)) async throws {
        let goal = sentCount.load(ordering: .relaxed) + messageCount
        try await eventually("\(messageCount) more messages acknowledged", within: limit) {
            sentCount.load(ordering: .relaxed) >= goal ? true : nil
        }
    }

    /// Waits as `flow`, but only as long as there is a chance.
    func tryToFlow(_ messageCount: Int, within limit: Duration) async {
        _ = try? await flow(messageCount, within: limit)
    }

    struct Outcome: Sendable {
        let thread: String
        let people: [Person]
        let acknowledged: [String]
        /// The cursor that all followers began at.
        let start: String
        let followers: [Follower.Log]
        let statuses: Statuses
    }

    /// Runs four people's senders and followers while `disturb` runs, and a little longer.
    static func run(
        through nodes: [Node], disturb: @Sendable @escaping (Traffic) async throws -> Void
    ) async throws -> Outcome {
        let first = try #require(nodes.first)
        let addresses = nodes.map(\.address)
        var people: [Person] = []
        for name in ["Ann", "Bob", "Cleo", "Dan"] { people.append(try await first.curl.register(name)) }
        let thread = try await first.curl.thread("group", by: people[0], with: Array(people.dropFirst()))
        let start = try await first.curl.cursor(of: people[0])
        let traffic = Traffic()
        let last = newID()

        return try await withThrowingTaskGroup(of: Follower.Log?.self) { [people] group in
            // Half of the followers prefer the other node, and one takes small bites.
            for (index, person) in people.enumerated() {
                let order = index % 2 == 0 ? addresses : addresses.reversed()
                let follower = Follower(person: person, addresses: order, limit: index == 0 ? 10 : 100)
                group.addTask {
                    try await follower.run(from: start, within: .seconds(90)) { $0["data"]["id"].string == last }
                }
            }
            let senders = try await withThrowingTaskGroup(of: Sender.Log?.self) { group in
                for person in people {
                    let sender = Sender(person: person, thread: thread, addresses: addresses)
                    group.addTask { try await sender.run(traffic) }
                }
                group.addTask {
                    defer { traffic.over.store(true, ordering: .relaxed) }
                    try await disturb(traffic)
                    return nil
                }
                return try await group.reduce(into: [Sender.Log]()) { if let log = $1 { $0.append(log) } }
            }
            try await eventually("the last message's acknowledgement") {
                for address in addresses {
                    let answer = try? await Curl(address: address).say("end", in: thread, as: people[0], id: last)
                    if answer?.status == 201 || answer?.status == 200 { return true }
                }
                return nil
            }
            let logs = try await group.reduce(into: [Follower.Log]()) { if let log = $1 { $0.append(log) } }
            return Outcome(
                thread: thread, people: people, acknowledged: senders.flatMap(\.acknowledged) + [last],
                start: start, followers: logs,
                statuses: (senders.map(\.statuses) + logs.map(\.statuses)).reduce(into: [:]) {
                    $0.merge($1, uniquingKeysWith: +)
                })
        }
    }
}

extension Traffic.Outcome {
    /// Every acknowledged message is in the archive once, in dense order; every follower got each once, in that order;
    /// and the same cursor gives the same events again.
    func judge(on node: Node, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let archive = try await node.curl.archive(of: thread, as: people[0])
        let ids = archive.map { $0["id"].string ?? "" }
        let seqs = archive.compactMap { $0["seq"].int }
        #expect(difference(seqs, Array(1...max(1, archive.count))) == nil, sourceLocation: sourceLocation)
        #expect(Set(ids).count == ids.count, "a message is there twice", sourceLocation: sourceLocation)
        let lost = Set(acknowledged).subtracting(ids)
        let extra = Set(ids).subtracting(acknowledged)
        #expect(lost.isEmpty, "acknowledged and lost", sourceLocation: sourceLocation)
        #expect(extra.isEmpty, "never acknowledged, though each was retried", sourceLocation: sourceLocation)

        // The log's one promise, as the node's own tail has seen it.
        #expect(try await node.metric("parley_log_gaps_total") == 0, sourceLocation: sourceLocation)

        let replay = try await Follower.replay(people[0], from: start, on: node.address)
        let again = replay.filter { $0["type"] == "message.created" }
        for (number, follower) in followers.enumerated() {
            let note: Comment = "follower \(number), statuses \(follower.statuses)"
            let seen = follower.messages(in: thread).map { $0["id"].string ?? "" }
            #expect(Set(seen).count == seen.count, note, sourceLocation: sourceLocation)
            #expect(difference(seen, ids) == nil, note, sourceLocation: sourceLocation)
            let events = follower.events.filter { $0["type"] == "message.created" }
            #expect(difference(Array(again.prefix(events.count)), events) == nil, note, sourceLocation: sourceLocation)
        }
    }
}

/// Where two long lists part company, in few words.
private func difference<Item: Equatable>(_ found: [Item], _ expected: [Item]) -> String? {
    if let index = zip(found, expected).enumerated().first(where: { $1.0 != $1.1 })?.offset {
        return "at \(index): \(found[index]), not \(expected[index])"
    }
    return found.count == expected.count ? nil : "\(found.count) items, not \(expected.count)"
}
