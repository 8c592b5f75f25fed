// How much an attack delays other users: the times of their sends while the node is idle and while it is attacked,
// measured in the same run. Used by all hardening tests.

import Foundation
import TestSupport
import Testing

/// Two people who have nothing to do with the attacker, and write to each other at a steady pace.
struct OtherUsers: Sendable {
    let address: Address
    let sender: Person
    let thread: String
    /// The call that they repeat; returns whether it was accepted. A send unless the test is about another call.
    var act: @Sendable (OtherUsers, Connection) async throws -> Bool = { others, connection in
        try await connection.say("Hello", in: others.thread, as: others.sender).status == 201
    }

    /// Registers two people and opens their direct thread.
    static func join(_ node: Node) async throws -> OtherUsers {
        let sender = try await node.client.register("Ann")
        let thread = try await node.client.thread("direct", by: sender, with: [try await node.client.register("Ben")])
        return OtherUsers(address: node.address, sender: sender, thread: thread)
    }

    /// Runs `attack` on `connectionCount` connections at once, each again and again until `seconds` are over, and times
    /// the others' sends: first for as long as that without the attack, then during it.
    /// - Parameter timing: replaces `sends`: times other calls for the given number of seconds.
    /// - Parameter attack: one round over the given connection. An error (a refused connection, a time-out) does not end
    ///   the attack: the next round begins with a new connection.
    func notice(
        connectionCount: Int, seconds: Double = 3, timing: (@Sendable (Double) async throws -> SendTimes)? = nil,
        _ attack: @escaping @Sendable (Connection, _ lane: Int) async throws -> Void
    ) async throws -> Notice {
        let timing = timing ?? { try await sends(for: $0) }
        let idle = try await timing(seconds)
        let (isOver, rounds) = (Flag(), Tally())
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<connectionCount {
                group.addTask {
                    var connection = Connection(address)
                    while !isOver.isSet {
                        do {
                            try await attack(connection, lane)
                        } catch {
                            connection = Connection(address)
                            try await Task.sleep(for: .milliseconds(5))
                        }
                        rounds.add()
                    }
                }
            }
            // The attack is under way before its effect is timed.
            try await Task.sleep(for: .milliseconds(300))
            let during = try await timing(seconds)
            isOver.set()
            try await group.waitForAll()
            return Notice(idle: idle, during: during, roundCount: rounds.value)
        }
    }

    /// Calls `act` every 10 ms and returns the times and refusals.
    func sends(for seconds: Double) async throws -> SendTimes {
        let connection = Connection(address)
        var times = SendTimes()
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {
            let began = ContinuousClock.now
            let wasAccepted = try await act(self, connection)
            times.add(began.duration(to: .now).seconds * 1_000, wasAccepted: wasAccepted)
            try await Task.sleep(for: .milliseconds(10))
        }
        return times
    }
}

/// Times of sends, in milliseconds.
struct SendTimes: Sendable {
    private var times: [Double] = []
    /// Sends that were not accepted.
    private(set) var refusedCount = 0

    mutating func add(_ time: Double, wasAccepted: Bool) {
        times.append(time)
        if !wasAccepted { refusedCount += 1 }
    }

    var p50: Double { times.sorted()[times.count / 2] }
    var max: Double { times.max() ?? 0 }
}

/// The same sends without and with an attack.
struct Notice: Sendable, CustomStringConvertible {
    let idle: SendTimes
    let during: SendTimes
    /// The number of the attack's rounds, on all its connections together.
    let roundCount: Int

    /// The median time of sends during the attack, divided by the idle median. An idle median below 1 ms counts as 1 ms:
    /// on a machine of two cores the attacker's own work costs as much.
    var ratio: Double { during.p50 / Swift.max(1, idle.p50) }

    var description: String {
        func ms(_ time: Double) -> String { String(format: "%.1f", time) }
        return
            "idle p50 \(ms(idle.p50)) max \(ms(idle.max)) ms; attacked p50 \(ms(during.p50)) max \(ms(during.max)) ms, "
            + "\(during.refusedCount) refused; \(roundCount) rounds"
    }

    /// Records a failure unless the others' sends were all accepted, at most `ratioMax` times as slow in the median,
    /// and none took longer than `msMax`. Prints the figures.
    func expect(
        _ attack: String, ratioMax: Double, msMax: Double = 2_000, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        print("attack: \(attack): \(self)")
        #expect(during.refusedCount == 0, "\(self)", sourceLocation: sourceLocation)
        #expect(ratio <= ratioMax, "\(self)", sourceLocation: sourceLocation)
        #expect(during.max <= msMax, "\(self)", sourceLocation: sourceLocation)
    }
}
