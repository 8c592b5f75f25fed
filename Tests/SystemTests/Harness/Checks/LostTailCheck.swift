// The delivery guarantee when the log has lost its tail: two databases diverged, and each device followed one or both.

import Foundation
import Testing

extension Traffic.Outcome {
    /// Checks a run during which the nodes switched to a database that lacked the last messages they had written.
    ///
    /// Acknowledged messages are in the kept history, or were written after the two databases diverged and are in the
    /// abandoned one. A device that was never refused received exactly the kept log. A refused device had followed the
    /// abandoned log, was told to reload all its threads, and from its fresh cursor on received the rest of the kept log.
    /// - Parameter old: a node on the abandoned database, to which nobody has written since.
    /// - Returns: how many messages were lost, and how many devices were refused.
    @discardableResult
    func checkDelivery(
        on node: Node, left old: Node, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> (lostCount: Int, refusedCount: Int) {
        var lostCount = 0
        for thread in population.threads {
            let stayed = try await entries(of: thread, on: node, sourceLocation)
            let left = try await entries(of: thread, on: old, sourceLocation)
            lostCount += checkDelivery(stayed, left, acknowledged[thread.id] ?? [], sourceLocation)
        }
        #expect(try await node.metric("parley_log_gaps_total") == 0, sourceLocation: sourceLocation)

        for person in population.people + population.wanderers {
            let log = try await Follower.seenEvents(person, from: population.start, on: node.address)
            for (number, follower) in followers.enumerated() where follower.person.id == person.id {
                let note = Comment("follower \(number), statuses \(follower.statuses)")
                if let reload = follower.reloads.first {
                    #expect(follower.reloads.count == 1, note, sourceLocation: sourceLocation)
                    let rest = try await Follower.seenEvents(person, from: reload.cursor, on: old.address)
                    // After the rest, because the abandoned log still grows by receipts: reading it marks messages as
                    // delivered.
                    let other = try await Follower.seenEvents(person, from: population.start, on: old.address)
                    checkDelivery(follower, reload, upTo(last, of: log), other, rest: rest, note, sourceLocation)
                } else {
                    let difference = difference(follower.seenEvents, upTo(last, of: log))
                    #expect(difference == nil, note, sourceLocation: sourceLocation)
                }
            }
        }
        return (lostCount, followers.count { !$0.reloads.isEmpty })
    }

    /// Checks one thread's histories. Returns how many of its messages were lost.
    private func checkDelivery(
        _ stayed: [Entry], _ left: [Entry], _ acknowledged: [String], _ sourceLocation: SourceLocation
    ) -> Int {
        let sharedCount = zip(stayed, left).prefix { $0 == $1 }.count
        let ids = Set(stayed.map(\.id))
        let tail = Set(left.dropFirst(sharedCount).map(\.id))
        let missing = Set(acknowledged.map { UUID(uuidString: $0) }).subtracting(ids)
        #expect(ids.count == stayed.count, "a message is there twice", sourceLocation: sourceLocation)
        #expect(missing.subtracting(tail).isEmpty, "lost, and not with the tail", sourceLocation: sourceLocation)
        #expect(
            ids.subtracting(acknowledged.map { UUID(uuidString: $0) }).isEmpty,
            "never acknowledged, though each was retried", sourceLocation: sourceLocation)
        return missing.count
    }

    /// Checks a device that was refused once.
    /// - Parameters:
    ///   - other: all events of the abandoned database.
    ///   - rest: the events that it returned after the refused cursor, a moment before.
    private func checkDelivery(
        _ follower: Follower.Log, _ reload: ReloadAnswer, _ log: [SeenEvent], _ other: [SeenEvent], rest: [SeenEvent],
        _ note: Comment, _ sourceLocation: SourceLocation
    ) {
        let before = Array(follower.seenEvents.prefix(reload.seenEventCount))
        let after = Array(follower.seenEvents.dropFirst(reload.seenEventCount))
        var found = difference(before + rest, Array(other.prefix(before.count + rest.count)))
        #expect(found == nil, "before it was refused: \(note)", sourceLocation: sourceLocation)
        found = difference(after, Array(log.suffix(after.count)))
        #expect(found == nil, "after it was refused: \(note)", sourceLocation: sourceLocation)

        // The loaded state ends where the device's next events begin.
        let between = log.dropLast(after.count).filter { $0.type == "message.created" }
        guard let person = population.people.firstIndex(where: { $0.id == follower.person.id }) else { return }
        for thread in population.threads(of: person) {
            let count = between.count { $0.thread == UUID(uuidString: thread) }
            let head = reload.heads[UUID(uuidString: thread) ?? UUID()]
            #expect(head == count, "thread \(thread): \(note)", sourceLocation: sourceLocation)
        }
    }

    /// Returns the log up to the last message. Later events of people who come and go are not waited for.
    private func upTo(_ last: UUID, of log: [SeenEvent]) -> [SeenEvent] {
        Array(log[..<(log.firstIndex { $0.subject == last }.map { $0 + 1 } ?? log.count)])
    }
}
