// Thousands of devices with waiting polls, and the measurements while a fault happens.

import Bench
import Foundation
import Synchronization
import TestSupport
import Testing

/// Members who wait in one room, and one other person who writes in a separate thread.
struct ManyPolls: Sendable {
    let count: Int
    let swarm: PollSwarm
    let room: ThreadKey
    private let roomID: String
    /// The token of the room's owner.
    private let token: String
    private let loner: Person
    private let diary: String
    private let addresses: [Address]

    /// - Parameter wait: the wait of each poll, in seconds.
    static func gather(
        _ count: Int, wait: Int, in database: String, on cluster: TestCluster, at addresses: [Address]
    ) async throws -> ManyPolls {
        let (tokens, room) = try await InsertedPeople.room(of: count, in: database, on: cluster)
        let key = try #require(ThreadKey(room))
        var settings = PolledDevice.Settings()
        settings.wait = wait
        let swarm = try PollSwarm(
            urls: addresses.map(\.description), members: tokens.map { .init(token: $0, heads: [key: 0]) },
            settings: settings)
        let connection = Connection(addresses[0])
        let loner = try await connection.register("Loner")
        let diary = try await connection.thread("group", by: loner, with: [])
        return ManyPolls(
            count: count, swarm: swarm, room: key, roomID: room, token: tokens[0], loner: loner, diary: diary,
            addresses: addresses)
    }

    /// Sends a message to all members, and waits until all have received it.
    func sendToAll(_ text: String, at address: Address? = nil) async throws {
        let before = swarm.counts.messages
        let answer = try await Connection(address ?? addresses[0]).say(text, in: roomID, token: token)
        try #require(answer.status == 201, "\(answer)")
        try await eventually("\"\(text)\" everywhere", within: .seconds(60)) {
            swarm.counts.messages >= before + count
        }
    }

    /// Returns how long the slowest message of another person took while `body` ran.
    func slowestSend(at address: Address, while body: () async throws -> Void) async throws -> Duration {
        let isOver = Flag()
        async let slowest = slowestSend(at: address, until: isOver)
        defer { isOver.set() }
        try await body()
        isOver.set()
        return try await slowest
    }

    private func slowestSend(at address: Address, until over: Flag) async throws -> Duration {
        let connection = Connection(address)
        var slowest = Duration.zero
        while !over.isSet {
            let start = ContinuousClock.now
            let answer = try await connection.say("I see", in: diary, as: loner)
            try #require(answer.status == 201, "\(answer)")
            slowest = max(slowest, start.duration(to: .now))
            try await Task.sleep(for: .milliseconds(20))
        }
        return slowest
    }
}

/// Samples of a growing count.
final class Spread: Sendable, CustomStringConvertible {
    private static let step = Duration.milliseconds(50)
    private let count: @Sendable () -> Int
    /// One sample every `step`, if the machine keeps up.
    private let samples = Mutex<[(at: ContinuousClock.Instant, count: Int)]>([])

    init(_ count: @escaping @Sendable () -> Int) { self.count = count }

    /// Samples while `body` runs.
    func watch<Value>(_ body: () async throws -> Value) async throws -> Value {
        let isOver = Flag()
        // The task below may run late, so the first and the last sample are taken here.
        sample()
        async let watching: Void = sample(until: isOver)
        defer { isOver.set() }
        let value = try await body()
        isOver.set()
        try await watching
        sample()
        return value
    }

    private func sample(until over: Flag) async throws {
        while !over.isSet {
            try await Task.sleep(for: Self.step)
            sample()
        }
    }

    private func sample() { samples.withLock { $0.append((.now, count())) } }

    var total: Int { samples.withLock { ($0.last?.count ?? 0) - ($0.first?.count ?? 0) } }

    /// Returns the largest growth within a window of time. Growth between two distant samples counts as even.
    func most(within window: Duration) -> Int {
        samples.withLock { samples in
            samples.indices.map { first in
                let rest = samples[first...]
                guard let end = rest.first(where: { samples[first].at.duration(to: $0.at) >= window }) ?? rest.last
                else {
                    return 0
                }
                let share = min(1, window / samples[first].at.duration(to: end.at))
                return Int(Double(end.count - samples[first].count) * share)
            }.max() ?? 0
        }
    }

    var description: String { samples.withLock { "\($0.map(\.count))" } }
}
