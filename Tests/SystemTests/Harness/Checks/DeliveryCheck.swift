// The delivery guarantee from outside: compares the events that people sent and received with the history and the log.

import Foundation
import Testing

extension Traffic.Outcome {
    /// The number of faults of each kind. The delivery guarantee requires that all are zero.
    struct Verdict: Sendable, Equatable {
        var lost = 0
        var doubled = 0
        var disordered = 0
    }

    /// Every acknowledged message is in its history once, in dense order; every device got every event that concerns
    /// its person, each once, in the order of the log, which is the histories' order too. Reads all of it again from
    /// `node`.
    /// - Parameter isTrimmed: the log no longer reaches back to the beginning. The events that a person's first device
    ///   received replace it.
    @discardableResult
    func checkDelivery(
        on node: Node, isTrimmed: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Verdict {
        var verdict = Verdict()
        var histories: [UUID: [Entry]] = [:]
        for thread in population.threads {
            let entries = try await history(of: thread, on: node, &verdict, sourceLocation)
            histories[UUID(uuidString: thread.id) ?? UUID()] = entries
        }
        // The log has no gaps, as the node's own tail has seen it.
        #expect(try await node.metric("parley_log_gaps_total") == 0, sourceLocation: sourceLocation)

        for person in population.people + population.wanderers {
            let log =
                isTrimmed
                ? followers.first { $0.person.id == person.id }?.seenEvents ?? []
                : try await Follower.seenEvents(person, from: population.start, on: node.address)
            let isMember = population.people.contains { $0.id == person.id }
            if isMember { compare(log, with: histories, of: person, &verdict, sourceLocation) }
            for (number, follower) in followers.enumerated() where follower.person.id == person.id {
                let note = "follower \(number), statuses \(follower.statuses)"
                compare(follower.seenEvents, with: log, note, &verdict, sourceLocation)
            }
        }
        return verdict
    }

    /// A message as the history returns it.
    struct Entry: Decodable, Equatable {
        let id: UUID?
        let seq: Int
    }

    private struct HistoryPage: Decodable {
        let messages: [Entry]
        let end: Bool
    }

    private func history(
        of thread: Population.Shared, on node: Node, _ verdict: inout Verdict, _ sourceLocation: SourceLocation
    ) async throws -> [Entry] {
        let entries = try await entries(of: thread, on: node, sourceLocation)
        let ids = Set(entries.map(\.id))
        let sent = Set((acknowledged[thread.id] ?? []).map { UUID(uuidString: $0) })
        verdict.doubled += entries.count - ids.count
        verdict.lost += sent.subtracting(ids).count
        #expect(entries.count == ids.count, "a message is there twice", sourceLocation: sourceLocation)
        #expect(sent.subtracting(ids).isEmpty, "acknowledged and lost", sourceLocation: sourceLocation)
        #expect(
            ids.subtracting(sent).isEmpty, "never acknowledged, though each was retried",
            sourceLocation: sourceLocation)
        return entries
    }

    /// All messages of a thread, which must be dense.
    func entries(
        of thread: Population.Shared, on node: Node, _ sourceLocation: SourceLocation
    ) async throws -> [Entry] {
        let connection = Connection(node.address)
        var entries: [Entry] = []
        var isAtEnd = false
        while !isAtEnd {
            let path = "/v1/threads/\(thread.id)/messages?after=\(entries.last?.seq ?? 0)&limit=200"
            let person = population.people[thread.members[0]]
            let answer = try await Connection.whenAvailable { try await connection.get(path, as: person) }
            try #require(answer.status == 200, "\(answer)", sourceLocation: sourceLocation)
            let page = try JSONDecoder().decode(HistoryPage.self, from: answer.body)
            entries += page.messages
            isAtEnd = page.end
        }
        let isDense = entries.enumerated().allSatisfy { $1.seq == $0 + 1 }
        #expect(isDense, "the history of \(thread.id) has holes", sourceLocation: sourceLocation)
        return entries
    }

    /// Expects the messages of each thread in the log to be those of its history.
    private func compare(
        _ log: [SeenEvent], with histories: [UUID: [Entry]], of person: Person, _ verdict: inout Verdict,
        _ sourceLocation: SourceLocation
    ) {
        var messages: [UUID: [Entry]] = [:]
        for event in log where event.type == "message.created" {
            guard let thread = event.thread, histories[thread] != nil else { continue }
            messages[thread, default: []].append(Entry(id: event.subject, seq: event.number))
        }
        for (index, thread) in population.threads.enumerated() {
            guard thread.members.contains(where: { population.people[$0].id == person.id }),
                let id = UUID(uuidString: thread.id)
            else { continue }
            let difference = difference(messages[id] ?? [], histories[id] ?? [])
            if difference != nil { verdict.disordered += 1 }
            #expect(difference == nil, "thread \(index) in the log", sourceLocation: sourceLocation)
        }
    }

    /// Returns the events up to the last message. Later events (delivered marks, people who come and go) are not waited
    /// for, and reach some devices in the same answer.
    private func upToLast(_ events: [SeenEvent]) -> [SeenEvent] {
        Array(events[..<(events.firstIndex { $0.subject == last }.map { $0 + 1 } ?? events.count)])
    }

    /// Expects a device to have received the log's events, each once and in the log's order, and no others.
    private func compare(
        _ seen: [SeenEvent], with log: [SeenEvent], _ note: String, _ verdict: inout Verdict,
        _ sourceLocation: SourceLocation
    ) {
        let seen = upToLast(seen)
        let expected = upToLast(log)
        guard let difference = difference(seen, expected) else { return }
        // Some events repeat legitimately: a person who joins a room and leaves it joins again later.
        var surplus: [SeenEvent: Int] = [:]
        for event in seen { surplus[event, default: 0] += 1 }
        for event in expected { surplus[event, default: 0] -= 1 }
        let lost = surplus.values.reduce(0) { $0 + max(0, -$1) }
        let doubled = surplus.values.reduce(0) { $0 + max(0, $1) }
        verdict.lost += lost
        verdict.doubled += doubled
        if lost == 0, doubled == 0 { verdict.disordered += 1 }
        Issue.record("\(note): \(lost) lost, \(doubled) doubled; \(difference)", sourceLocation: sourceLocation)
    }
}

/// Returns where two long lists first differ, in a few words; nil if they are equal.
func difference<Item: Equatable>(_ found: [Item], _ expected: [Item]) -> String? {
    if let index = zip(found, expected).enumerated().first(where: { $1.0 != $1.1 })?.offset {
        return "at \(index): \(found[index]), not \(expected[index])"
    }
    return found.count == expected.count ? nil : "\(found.count) items, not \(expected.count)"
}
