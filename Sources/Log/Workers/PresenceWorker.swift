// Typing and presence between nodes. These events are published but not stored, on a notification channel of their own.
import Basics
import Domain
import FoundationEssentials
import Logging
import Store
import Synchronization
import Telemetry
import Workers

/// Publishes typing and presence of this node's users to the other nodes, and delivers what all nodes publish to the
/// polls here. No message and no poll waits for it. A lost event stays lost.
package final class PresenceWorker: Sendable {
    /// A node without a heartbeat for 45 s is dead (presence_sweep), so its users are offline within 60 s.
    private static let heartbeatInterval = Duration.seconds(15)
    private static let retryAfter = Duration.seconds(1)
    /// Users of one call.
    private static let batchCountMax = 500

    /// Names this node until it stops.
    private let node: String
    private let hub: Hub
    private let store: Store
    private let listener: NotificationListener
    /// Failures of the two workers, which fail for the same reasons.
    package let failures = Counter()
    private let publishing: Worker
    private let recording: Worker
    private let queue = Mutex(PassingQueue())
    private let seal: Mutex<PassingSeal>
    /// How far the database's clock is ahead of this node's, as the last heartbeat found.
    private let clockMicros: Atomic<Int64>

    /// - Parameters:
    ///   - listener: of the channel of typing and presence.
    ///   - channels: as just read.
    package init(
        hub: Hub, store: Store, listener: NotificationListener, channels: NodeChannels, logger: Logger
    ) {
        let number = UInt64.random(in: 0...(.max))
        node = String(number, radix: 36)
        seal = Mutex(PassingSeal(key: channels.key, node: number))
        clockMicros = Atomic(Self.difference(from: channels.now))
        self.hub = hub
        self.store = store
        self.listener = listener
        publishing = Worker(
            "publishing presence and typing", retryAfter: Ticker.interval, failures: failures, logger: logger)
        recording = Worker(
            "recording presence", retryAfter: Self.retryAfter, failures: failures, logger: logger)
    }

    /// Adds a typing event. It is published within 250 ms, at most once a second for a user and thread.
    package func add(typing event: PassingEvent) { queue.withLock { $0.add(event, isTyping: true) } }

    /// Adds changes of users' presence.
    package func add(presence events: [PassingEvent]) {
        queue.withLock { queue in
            for event in events { queue.add(event, isTyping: false) }
        }
    }

    /// Runs until cancelled. The other nodes then mark this node's users as offline, except those that are online
    /// elsewhere.
    package func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                try await self.listener.run { event in
                    if case .notification(let payload) = event { self.handle(notification: payload) }
                }
            }
            group.addTask {
                try await self.publishing.run {
                    try await self.publish()
                    return .idle
                }
            }
            group.addTask { try await self.keepPresence() }
        }
    }

    private func handle(notification payload: String) {
        let now = now
        guard let text = seal.withLock({ try? $0.open(payload, now: now) }) else { return }
        hub.pass(PassingPayload.unpack(text))
    }

    /// By the database's clock, so that the nodes' own clocks may differ.
    private var now: Timestamp {
        Timestamp(microsSince1970: WallClock.micros + clockMicros.load(ordering: .relaxed))
    }

    private static func difference(from now: Timestamp) -> Int64 { now.microsSince1970 - WallClock.micros }

    private func publish() async throws {
        let events = queue.withLock { $0.take() }
        guard !events.isEmpty else { return }
        hub.pass(events)
        let now = now
        let payloads = try PassingPayload.pack(events).compactMap { text in
            try seal.withLock { try $0.seal(text, now: now) }
        }
        if !payloads.isEmpty { try await store.announcePresence(payloads) }
    }

    private func keepPresence() async throws {
        var online: Set<UserID> = []
        var isBehind = false
        var nextHeartbeat = ContinuousClock.now
        try await recording.run {
            let changes = self.hub.takePresence()
            // In the order of the calls: a user who came and went meanwhile is in both lists.
            online.formUnion(changes.came)
            online.subtract(changes.went.map(\.user).filter { !self.hub.isOnline($0) })
            let isHeartbeat = ContinuousClock.now >= nextHeartbeat
            let isRecorded: Void? = try await self.recording.attempt {
                try await self.record(changes, online)
                if isHeartbeat { try await self.heartbeat(online, isBehind: isBehind) }
            }
            guard isRecorded != nil else {
                // The next heartbeat writes all users that are online, and so what the database has missed.
                isBehind = true
                nextHeartbeat = .now + Self.retryAfter
                return .idle
            }
            if isHeartbeat {
                isBehind = false
                nextHeartbeat = .now + Self.heartbeatInterval
            }
            return .idle
        }
    }

    private func record(_ changes: PresenceChanges, _ online: Set<UserID>) async throws {
        var came = changes.came.filter { online.contains($0) }[...]
        var went = changes.went.filter { !online.contains($0.user) }[...]
        while !came.isEmpty || !went.isEmpty {
            let changed = try await store.putPresence(
                node: node, online: Array(came.prefix(Self.batchCountMax)),
                offline: Array(went.prefix(Self.batchCountMax)))
            add(presence: changed)
            came = came.dropFirst(Self.batchCountMax)
            went = went.dropFirst(Self.batchCountMax)
        }
    }

    /// - Parameter isBehind: whether the database may have missed changes. It may also have lost some, so its count is
    ///   compared.
    private func heartbeat(_ online: Set<UserID>, isBehind: Bool) async throws {
        clockMicros.store(Self.difference(from: try await store.nodeChannels().now), ordering: .relaxed)
        if try await store.presenceHeartbeat(node: node) != Int64(online.count) || isBehind {
            add(presence: try await store.putPresence(node: node, online: Array(online), offline: [], isWhole: true))
        }
        while true {
            let swept = try await store.sweepPresence(limit: Self.batchCountMax)
            guard !swept.isEmpty else { return }
            add(presence: swept)
        }
    }
}
