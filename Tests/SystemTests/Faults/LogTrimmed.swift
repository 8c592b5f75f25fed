// The log is extended at one end and trimmed at the other while people write and read.

import Foundation
import TestSupport
import Testing

extension SystemTests.Faults {
    @Test(
        "the log trimmed under load: no call waits, no retained event is lost, later clients reload"
    )
    func logTrimmed() async throws {
        let log = try await ShortLog.make(on: try await TestCluster.shared())
        let nodes = try await RestartableNodes.start(2, on: log.conninfo)
        let outcome = try await Traffic.run(through: nodes.addresses) { traffic in
            let connection = Connection(nodes.addresses[0])
            let (ann, bob) = (try await connection.register("Ann"), try await connection.register("Bob"))
            var late = LateReader(
                person: try await connection.register("Cora"), cursor: try await connection.cursor(of: ann),
                connection: Connection(nodes.addresses[1]))
            let thread = try await connection.thread("group", by: ann, with: [bob, late.person])
            let quiet = try await connection.thread("direct", by: ann, with: [bob])
            let start = try await connection.cursor(of: bob)

            var sent: [String] = []
            var droppedCount = 0
            var slowest = Duration.zero
            try await eventually("four partitions trimmed", within: .seconds(60), every: .milliseconds(20)) {
                let began = ContinuousClock.now
                sent.append(try await connection.sent("still", in: thread, as: ann))
                slowest = max(slowest, began.duration(to: .now))
                // The reader goes first, because the trim must not overtake it on a slow machine.
                if late.isDue { try await late.read() }
                droppedCount += try await log.trim()
                return droppedCount >= 4
            }
            try await late.read()
            #expect(late.seen == sent)
            // A call that waits for a lock gives up after 5 s.
            #expect(slowest < .seconds(4), "a send took \(slowest)")
            for address in nodes.addresses {
                try await expectReload(of: thread, not: quiet, bob, from: start, at: address, writer: ann)
            }
            try await traffic.flow(30)
        }
        #expect(outcome.statuses.keys.allSatisfy { [200, 201].contains($0) }, "\(outcome.statuses)")
        let reloads = outcome.followers.flatMap(\.reloads)
        #expect(reloads.isEmpty)
        try await outcome.checkDelivery(on: nodes[1], isTrimmed: true)
        let count = try await log.sql("select count(*) from messages where seq > 0")
        #expect(Int(count) ?? 0 > outcome.messageCount, "the history isn't the log")
        let made =
            try await (nodes[0].metric("parley_log_partitions_made_total") ?? 0)
            + (nodes[1].metric("parley_log_partitions_made_total") ?? 0)
        #expect(made >= 4, "\(made) partitions made by the nodes while they ran")
        try await nodes.stopAll()
    }

    /// Bob returns after his events were trimmed, reloads, and receives later events.
    private func expectReload(
        of thread: String, not quiet: String, _ bob: Person, from cursor: String, at address: Address,
        writer ann: Person
    ) async throws {
        let connection = Connection(address)
        let refusal = try await connection.sync(bob, from: cursor)
        let reload = try #require(ReloadAnswer(refusal, to: cursor, after: 0), "\(refusal)")
        let messages = try await connection.history(of: thread, as: bob)
        #expect(reload.heads == [UUID(uuidString: thread) ?? UUID(): messages.count], "\(refusal)")
        #expect(messages.compactMap { $0["seq"].int } == Array(1...messages.count))

        let id = try await connection.sent("now", in: thread, as: ann)
        let answer = try await connection.sync(bob, from: reload.fresh)
        #expect(answer.told.map { $0["data"]["id"].string } == [id], "\(answer)")
    }
}

/// Polls every 1.5 s, while the log keeps 3 s.
private struct LateReader: Sendable {
    let person: Person
    var cursor: String
    let connection: Connection
    var readAt = ContinuousClock.now
    /// The number of messages.
    var seen: [String] = []

    var isDue: Bool { readAt.duration(to: .now) > .seconds(1.5) }

    mutating func read() async throws {
        readAt = .now
        while true {
            let answer = try await connection.sync(person, from: cursor)
            try #require(answer.status == 200, "\(answer)")
            let messages = answer.json["events"].items.filter { $0["type"] == "message.created" }
            seen += messages.compactMap { $0["data"]["id"].string }
            cursor = try #require(answer.json["cursor"].string)
            if answer.json["more"] != true { return }
        }
    }
}
