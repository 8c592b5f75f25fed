// Which devices poll at this node, as push has to know: taken from the hub and told to the database, behind the polls.
import Domain
import Logging
import Store
import Telemetry

/// Tells the database which devices come and go, a batch a beat, and takes those of dead nodes for gone.
package struct DevicePollWorker: Sendable {
    private static let batchCountMax = 500
    /// As often as presence: a node that isn't heard of for 45 s is dead (device_poll_sweep).
    private static let tickInterval = Duration.seconds(15)

    private let node: String
    private let hub: Hub
    private let store: Store
    private let metrics: DevicePollMetrics
    private let wentAway: @Sendable () -> Void
    private let logger: Logger

    /// - Parameters:
    ///   - node: what the node is known by, in one life.
    ///   - wentAway: hears that devices have gone, who may lack something.
    package init(
        node: String, hub: Hub, store: Store, metrics: DevicePollMetrics, wentAway: @escaping @Sendable () -> Void,
        logger: Logger
    ) {
        self.node = node
        self.hub = hub
        self.store = store
        self.metrics = metrics
        self.wentAway = wentAway
        self.logger = logger
    }

    /// Runs until cancelled. Of a node that doesn't `leave` the others take the devices for gone, unless they have come there.
    package func run() async throws {
        // Who polls has all that was there a beat ago, or would count as gone.
        var before = hub.head.position
        var nextBeat = ContinuousClock.now
        while true {
            try await Ticker.sleep()
            try await tell(hub.takeDevices())
            guard ContinuousClock.now >= nextBeat else { continue }
            let head = hub.head.position
            try await untilDone { try await beat(before) }
            before = head
            nextBeat = .now + Self.tickInterval
        }
    }

    /// The node goes, its polls have ended: nobody need wait until it is missed. Those that come elsewhere are known there.
    package func leave() async throws {
        hub.leaveDevices()
        var gone = hub.takeDevices().gone[...]
        while !gone.isEmpty {
            try await store.putDevicePolls(node: node, came: [], gone: Array(gone.prefix(Self.batchCountMax)))
            gone = gone.dropFirst(Self.batchCountMax)
        }
    }

    private func tell(_ changes: DeviceChanges) async throws {
        var came = changes.came[...]
        var gone = changes.gone[...]
        while !came.isEmpty || !gone.isEmpty {
            let part = (came: Array(came.prefix(Self.batchCountMax)), gone: Array(gone.prefix(Self.batchCountMax)))
            try await untilDone { try await store.putDevicePolls(node: node, came: part.came, gone: part.gone) }
            metrics.changes.add(part.came.count + part.gone.count)
            if !part.gone.isEmpty { wentAway() }
            came = came.dropFirst(Self.batchCountMax)
            gone = gone.dropFirst(Self.batchCountMax)
        }
    }

    private func beat(_ position: Position) async throws {
        if try await store.devicePollHeartbeat(node: node, position: position) {
            try await store.putDevicePolls(node: node, came: hub.devices, gone: [], isWhole: true)
        }
        if try await store.sweepDevicePolls() > 0 { wentAway() }
    }

    /// While the database is away, the hub keeps what comes meanwhile: of each device, where it is now.
    private func untilDone(_ body: () async throws -> Void) async throws {
        while true {
            do {
                return try await body()
            } catch let problem as Problem {
                metrics.failures.add()
                logger.warning("telling which devices poll has to wait", metadata: ["reason": "\(problem.detail)"])
                try await Task.sleep(for: .seconds(1))
            }
        }
    }
}

/// Coming and going of a node's devices.
package final class DevicePollMetrics: Sendable {
    /// Told to the database.
    package let changes = Counter()
    package let failures = Counter()

    package init() {}
}
