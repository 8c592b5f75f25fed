// Records in the database which devices poll at this node. Push needs to know. Polls don't wait for it.
import Domain
import Logging
import Store
import Telemetry
import Workers

/// Reports every 250 ms which devices began or stopped polling, and marks devices of dead nodes as gone.
package struct DevicePollWorker: Sendable {
    private static let batchCountMax = 500
    /// As often as presence: a node without a heartbeat for 45 s is dead (device_poll_sweep).
    private static let heartbeatInterval = Duration.seconds(15)

    private let node: String
    private let hub: Hub
    private let store: Store
    private let metrics: DevicePollMetrics
    private let wentAway: @Sendable () -> Void
    private let worker: Worker

    /// - Parameters:
    ///   - node: names the node, until it stops.
    ///   - wentAway: called after devices have gone that may lack events.
    package init(
        node: String, hub: Hub, store: Store, metrics: DevicePollMetrics, wentAway: @escaping @Sendable () -> Void,
        logger: Logger
    ) {
        self.node = node
        self.hub = hub
        self.store = store
        self.metrics = metrics
        self.wentAway = wentAway
        worker = Worker(
            "recording polling devices", retryAfter: .seconds(1), failures: metrics.failures, logger: logger)
    }

    /// Runs until cancelled. If the node ends without `leave`, the others mark its devices as gone, except those that
    /// poll elsewhere by then.
    package func run() async throws {
        // A polling device has all events up to the head of the heartbeat before. With a later position it would count
        // as gone.
        var before = hub.head.position
        var nextHeartbeat = ContinuousClock.now
        try await Ticker.sleep()
        try await worker.run {
            try await report(hub.takeDevices())
            guard ContinuousClock.now >= nextHeartbeat else { return .idle }
            let head = hub.head.position
            try await worker.retry { try await heartbeat(before) }
            before = head
            nextHeartbeat = .now + Self.heartbeatInterval
            return .idle
        }
    }

    /// Marks all devices of this node as gone once its polls have ended. Otherwise their alerts would wait until its
    /// heartbeats are missed. Devices that already poll elsewhere stay with their new node.
    package func leave() async throws {
        hub.leaveDevices()
        var gone = hub.takeDevices().gone[...]
        while !gone.isEmpty {
            try await store.putDevicePolls(node: node, came: [], gone: Array(gone.prefix(Self.batchCountMax)))
            gone = gone.dropFirst(Self.batchCountMax)
        }
    }

    /// While the database is down, the hub keeps later changes: for each device, where it is now.
    private func report(_ changes: DeviceChanges) async throws {
        var came = changes.came[...]
        var gone = changes.gone[...]
        while !came.isEmpty || !gone.isEmpty {
            let part = (came: Array(came.prefix(Self.batchCountMax)), gone: Array(gone.prefix(Self.batchCountMax)))
            try await worker.retry {
                try await store.putDevicePolls(node: node, came: part.came, gone: part.gone)
            }
            metrics.changes.add(part.came.count + part.gone.count)
            if !part.gone.isEmpty { wentAway() }
            came = came.dropFirst(Self.batchCountMax)
            gone = gone.dropFirst(Self.batchCountMax)
        }
    }

    private func heartbeat(_ position: Position) async throws {
        if try await store.devicePollHeartbeat(node: node, position: position) {
            try await store.putDevicePolls(node: node, came: hub.devices, gone: [], isWhole: true)
        }
        if try await store.sweepDevicePolls() > 0 { wentAway() }
    }
}

package final class DevicePollMetrics: Metrics {
    package let changes = Counter(
        "parley_device_changes_total",
        "Devices that began or stopped polling at this node, as reported to the database.")
    package let failures = Counter()

    package init() {}
}
