// Typing and presence between nodes: events that are told and not kept, on a channel of their own.
import Domain
import Logging
import Store
import Synchronization

/// Tells the other nodes who comes, goes and types here, and the polls here what all nodes say of it. Nothing of it is
/// on the path of a message or a poll; what is lost on the way is lost.
package final class PresenceWorker: Sendable {
    package static let channel = "parley_presence"
    /// A node that isn't heard of for 45 s has gone (presence_sweep): so its users are offline within 60.
    private static let tickInterval = Duration.seconds(15)
    /// Of those told to the database at once.
    private static let batchCountMax = 500

    /// What this node is known by, in one life.
    private let node = String(UInt64.random(in: 0...(.max)), radix: 36)
    private let hub: Hub
    private let store: Store
    private let listener: NotificationListener
    private let logger: Logger
    private let outbox = Mutex(PassingOutbox())

    package init(hub: Hub, store: Store, listener: NotificationListener, logger: Logger) {
        self.hub = hub
        self.store = store
        self.listener = listener
        self.logger = logger
    }

    /// Somebody types: told within a quarter of a second, and once a second at most.
    package func add(typing event: PassingEvent) { outbox.withLock { $0.add(event, isTyping: true) } }

    /// Somebody's presence looks different now.
    package func add(presence events: [PassingEvent]) {
        outbox.withLock { outbox in
            for event in events { outbox.add(event, isTyping: false) }
        }
    }

    /// Runs until cancelled. Who is online here then is taken offline by the other nodes, unless they have come there.
    package func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                try await self.listener.run { event in
                    if case .notification(let payload) = event { self.hear(payload) }
                }
            }
            group.addTask {
                while true {
                    try await Ticker.sleep()
                    try await self.whileAvailable { try await self.tell() }
                }
            }
            group.addTask { try await self.keepPresence() }
        }
    }

    private func hear(_ payload: String) {
        let heard = PassingPayload.unpack(payload)
        if heard.node != node { hub.pass(heard.events) }
    }

    private func tell() async throws {
        let events = outbox.withLock { $0.take() }
        guard !events.isEmpty else { return }
        hub.pass(events)
        let payloads = PassingPayload.pack(events, node: node)
        if !payloads.isEmpty { try await store.announcePresence(payloads) }
    }

    private func keepPresence() async throws {
        var online: Set<UserID> = []
        var isBehind = false
        var nextBeat = ContinuousClock.now
        while true {
            try await Ticker.sleep()
            let changes = hub.takePresence()
            // In the order of the calls: who came and went meanwhile is both.
            online.formUnion(changes.came)
            online.subtract(changes.went.map(\.user).filter { !hub.isOnline($0) })
            let isBeat = ContinuousClock.now >= nextBeat
            let isTold = try await whileAvailable {
                try await self.tell(changes, online)
                if isBeat { try await self.beat(online, isBehind: isBehind) }
            }
            // What the database hasn't heard it is told as a whole with the next beat.
            if !isTold { isBehind = true } else if isBeat { isBehind = false }
            if isBeat || !isTold { nextBeat = .now + (isTold ? Self.tickInterval : .seconds(1)) }
        }
    }

    private func tell(_ changes: PresenceChanges, _ online: Set<UserID>) async throws {
        var came = changes.came.filter { online.contains($0) }[...]
        var went = changes.went.filter { !online.contains($0.user) }[...]
        while !came.isEmpty || !went.isEmpty {
            let told = try await store.putPresence(
                node: node, online: Array(came.prefix(Self.batchCountMax)),
                offline: Array(went.prefix(Self.batchCountMax)))
            add(presence: told)
            came = came.dropFirst(Self.batchCountMax)
            went = went.dropFirst(Self.batchCountMax)
        }
    }

    /// - Parameter isBehind: the database may have missed who came and went. It may have lost it, too.
    private func beat(_ online: Set<UserID>, isBehind: Bool) async throws {
        if try await store.presenceHeartbeat(node: node) != Int64(online.count) || isBehind {
            add(presence: try await store.putPresence(node: node, online: Array(online), offline: [], isWhole: true))
        }
        while true {
            let swept = try await store.sweepPresence(limit: Self.batchCountMax)
            guard !swept.isEmpty else { return }
            add(presence: swept)
        }
    }

    /// Whether it could be done: a database that is away is waited for.
    @discardableResult
    private func whileAvailable(_ body: () async throws -> Void) async throws -> Bool {
        do {
            try await body()
            return true
        } catch let problem as Problem {
            logger.warning("presence has to wait", metadata: ["reason": "\(problem.detail)"])
            return false
        }
    }
}
