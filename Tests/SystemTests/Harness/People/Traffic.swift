// People who write and follow at the same time while a fault is injected into nodes or PostgreSQL. DeliveryCheck.swift
// checks what they received.

import Foundation
import Synchronization
import TestSupport
import Testing

/// Progress of the traffic, for the part of a test that injects faults.
final class Traffic: Sendable {
    private let sentCount = Atomic(0)
    private let refusedCount = Atomic(0)
    private let polledCount = Atomic(0)
    private let deliveredCount = Atomic(0)
    private let over = Atomic(false)

    var isOver: Bool { over.load(ordering: .relaxed) }
    /// Messages acknowledged so far.
    var messageCount: Int { sentCount.load(ordering: .relaxed) }

    /// The number of 503 answers to sends.
    var refusalCount: Int { refusedCount.load(ordering: .relaxed) }

    /// Polls that ended in any way, and the events they returned.
    var pollCount: Int { polledCount.load(ordering: .relaxed) }
    var eventCount: Int { deliveredCount.load(ordering: .relaxed) }

    func countPoll() { polledCount.add(1, ordering: .relaxed) }
    func countEvents(_ count: Int) { deliveredCount.add(count, ordering: .relaxed) }

    /// Records an answer to a sender.
    func count(_ status: Int) {
        switch status {
        case 200, 201: sentCount.add(1, ordering: .relaxed)
        case 503: refusedCount.add(1, ordering: .relaxed)
        default: break
        }
    }

    /// Waits until `count` more messages are acknowledged.
    func flow(_ messageCount: Int, within limit: Duration = .seconds(60)) async throws {
        let goal = self.messageCount + messageCount
        try await eventually("\(messageCount) more messages acknowledged", within: limit) {
            self.messageCount >= goal
        }
    }

    /// The same as `flow`, but gives up when the time can no longer suffice.
    func tryToFlow(_ messageCount: Int, within limit: Duration) async {
        _ = try? await flow(messageCount, within: limit)
    }

    struct Plan: Sendable {
        var personCount = 4
        var wandererCount = 1
        /// How long one message is retried, and how long the whole run may take.
        var patience: Duration = .seconds(90)
        var limit: Duration = .seconds(180)
        /// The pause of each sender between messages.
        var pause: Duration = .zero
    }

    struct Outcome: Sendable {
        let population: Population
        /// Keyed by thread.
        let acknowledged: [String: [String]]
        /// The last message of the run.
        let last: UUID
        let followers: [Follower.Log]
        let statuses: Statuses
        /// Messages that took more than one attempt.
        let retriedCount: Int

        var messageCount: Int { acknowledged.values.reduce(1) { $0 + $1.count } }
        var pollCount: Int { followers.reduce(0) { $0 + $1.pollCount } }
        var eventCount: Int { followers.reduce(0) { $0 + $1.seenEvents.count } }
    }

    static func run(
        through nodes: [Node], _ plan: Plan = Plan(), disturb: @Sendable @escaping (Traffic) async throws -> Void
    ) async throws -> Outcome {
        try await run(through: nodes.map(\.address), plan, disturb: disturb)
    }

    /// Runs people's senders and followers while `disturb` runs, and a little longer.
    static func run(
        through addresses: [Address], _ plan: Plan = Plan(), disturb: @Sendable @escaping (Traffic) async throws -> Void
    ) async throws -> Outcome {
        let population = try await Population.gather(
            plan.personCount, wanderers: plan.wandererCount, at: Connection(try #require(addresses.first)))
        let traffic = Traffic()
        let last = UUID()
        return try await withThrowingTaskGroup(of: Follower.Log.self) { group in
            for follower in followers(of: population, addresses) {
                group.addTask {
                    try await follower.run(traffic, from: population.start, within: plan.limit) { $0.subject == last }
                }
            }
            let senders = try await send(traffic, population, addresses, plan, disturb)
            try await end(population, addresses, last)
            let logs = try await group.reduce(into: [Follower.Log]()) { $0.append($1) }
            let statuses = senders.map(\.statuses) + logs.map(\.statuses)
            return Outcome(
                population: population,
                acknowledged: senders.reduce(into: [:]) { $0.merge($1.acknowledged, uniquingKeysWith: +) }, last: last,
                followers: logs, statuses: statuses.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) },
                retriedCount: senders.reduce(0) { $0 + $1.retriedCount })
        }
    }

    /// Two devices for each person. The first stays at one node while that answers, half of them at each node. The second
    /// changes nodes at each poll. Some devices use small limits. Some people have a third device, which uses streams and
    /// closes them at times.
    private static func followers(of population: Population, _ addresses: [Address]) -> [Follower] {
        (population.people + population.wanderers).enumerated().flatMap { index, person in
            let order = index % 2 == 0 ? addresses : addresses.reversed()
            return [
                Follower(person: person, addresses: order, limit: index == 0 ? 10 : 100),
                Follower(person: person, addresses: order, limit: index == 1 ? 10 : 100, hops: true),
            ]
                + (index % 2 == 0
                    ? [Follower(person: person, addresses: order, limit: 10, hops: index == 0, streams: true)] : [])
        }
    }

    /// Runs until the fault injection has ended.
    private static func send(
        _ traffic: Traffic, _ population: Population, _ addresses: [Address], _ plan: Plan,
        _ disturb: @Sendable @escaping (Traffic) async throws -> Void
    ) async throws -> [Sender.Log] {
        try await withThrowingTaskGroup(of: Sender.Log?.self) { group in
            for (index, person) in population.people.enumerated() {
                let sender = Sender(
                    person: person, threads: population.threads(of: index), addresses: addresses,
                    patience: plan.patience,
                    pause: plan.pause)
                group.addTask { try await sender.run(traffic) }
            }
            for person in population.wanderers {
                let wanderer = Wanderer(person: person, room: population.room, addresses: addresses)
                group.addTask {
                    try await wanderer.run(traffic)
                    return nil
                }
            }
            group.addTask {
                defer { traffic.over.store(true, ordering: .relaxed) }
                try await disturb(traffic)
                return nil
            }
            return try await group.reduce(into: [Sender.Log]()) { if let log = $1 { $0.append(log) } }
        }
    }

    /// Sends one more message to everyone, so that followers know when they have everything.
    private static func end(_ population: Population, _ addresses: [Address], _ last: UUID) async throws {
        try await eventually("the last message to be acknowledged") {
            for address in addresses {
                let answer = try? await Client(address: address).say(
                    "end", in: population.closing, as: population.people[0], id: last.uuidString.lowercased())
                if answer?.status == 201 || answer?.status == 200 { return true }
            }
            return nil
        }
    }
}
