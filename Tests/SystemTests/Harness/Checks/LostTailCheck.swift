// The delivery guarantee when the log has lost its tail: two databases diverged, and each device followed one or both.

import Foundation
import Testing

extension Traffic.Outcome {
    /// Judges a run during which the nodes went over to a database that lacked the tail of what they had written.
    ///
    /// Acknowledged messages are in the archive that stayed, or were written after the two went apart and are in the
    /// other. A device that was never refused saw the log that stayed and nothing else. One that was had followed the
    /// other log up to there, was told of all its threads, and from its fresh cursor on saw the rest of what stayed.
    /// - Parameter old: a node on the database that was left, as it was left.
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
            let other = try await Follower.seenEvents(person, from: population.start, on: old.address)
            for (number, follower) in followers.enumerated() where follower.person.id == person.id {
                let note = Comment("follower \(number), statuses \(follower.statuses)")
                if let reload = follower.reloads.first {
                    #expect(follower.reloads.count == 1, note, sourceLocation: sourceLocation)
                    let rest = try await Follower.seenEvents(person, from: reload.cursor, on: old.address)
                    checkDelivery(follower, reload, upTo(last, of: log), other, rest: rest, note, sourceLocation)
                } else {
                    let difference = difference(follower.seenEvents, upTo(last, of: log))
                    #expect(difference == nil, note, sourceLocation: sourceLocation)
                }
            }
        }
        return (lostCount, followers.count { !$0.reloads.isEmpty })
    }

    /// One thread's archives; gives how many of its messages were lost.
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

    /// A device that was refused once.
    /// - Parameter rest: what the database that was left gives after the refused cursor.
    private func checkDelivery(
        _ follower: Follower.Log, _ reload: ReloadAnswer, _ log: [SeenEvent], _ other: [SeenEvent], rest: [SeenEvent],
        _ note: Comment, _ sourceLocation: SourceLocation
    ) {
        let before = Array(follower.seenEvents.prefix(reload.seenEventCount))
        let after = Array(follower.seenEvents.dropFirst(reload.seenEventCount))
        var found = difference(before + rest, other)
        #expect(found == nil, "before it was refused: \(note)", sourceLocation: sourceLocation)
        found = difference(after, Array(log.suffix(after.count)))
        #expect(found == nil, "after it was refused: \(note)", sourceLocation: sourceLocation)

        // What it loaded ends where its events go on.
        let between = log.dropLast(after.count).filter { $0.type == "message.created" }
        guard let person = population.people.firstIndex(where: { $0.id == follower.person.id }) else { return }
        for thread in population.threads(of: person) {
            let count = between.count { $0.thread == UUID(uuidString: thread) }
            let head = reload.heads[UUID(uuidString: thread) ?? UUID()]
            #expect(head == count, "thread \(thread): \(note)", sourceLocation: sourceLocation)
        }
    }

    /// What a wanderer may see after the last message is not waited for.
    private func upTo(_ last: UUID, of log: [SeenEvent]) -> [SeenEvent] {
        Array(log[..<(log.firstIndex { $0.subject == last }.map { $0 + 1 } ?? log.count)])
    }
}
