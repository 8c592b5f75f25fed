// The log's components in one node, put together.
import Domain
import Logging
import Store
import Telemetry
import Workers

/// All that makes the log real-time in one node. `Service.Node` and the tests' nodes build it here and nowhere else.
package struct LogComponents<Caller: Sendable>: Sendable {
    package let sessions: SessionCache
    package let adminKeys: AdminKeyCache
    package let hub: Hub
    package let tail: Tail
    package let writer: Writer<Caller>
    package let presence: PresenceWorker
    package let devicePolls: DevicePollWorker
    /// Dependencies first.
    package let components: [Component]

    /// - Parameters:
    ///   - listener: makes the listener of a channel. It connects directly to PostgreSQL, since notifications don't
    ///     pass a transaction pooler.
    ///   - channel: the notifications that the tail listens to, nil for those of the nodes. A test names another to lose
    ///     them all.
    ///   - devicesWentAway: called after devices stopped polling that may lack events.
    ///   - send: answers parked polls (`Hub`).
    ///   - answer: answers the senders of messages (`Writer`).
    package init(
        _ store: Store, listener: (String) -> NotificationListener, channel: String? = nil,
        sessions: SessionCache,
        limits: HubLimits = HubLimits(), logger: Logger, devicesWentAway: @escaping @Sendable () -> Void = {},
        send: @escaping @Sendable ([Wake]) -> Void,
        answer: @escaping @Sendable ([(Caller, Writer<Caller>.Appended)]) -> Void
    ) async throws {
        self.sessions = sessions
        adminKeys = AdminKeyCache(store)
        let hub = Hub(store: store, start: try await store.now(), limits: limits, send: send)
        let channels = try await store.nodeChannels()
        let tail = Tail(
            store: store, listener: listener(channel ?? channels.log), hub: hub, sessions: sessions,
            adminKeys: adminKeys, logger: logger)
        let writer = Writer(store, tail: tail, logger: logger, answer: answer)
        let presence = PresenceWorker(
            hub: hub, store: store, listener: listener(channels.presence), channels: channels, logger: logger)
        let (deliveryMetrics, deviceMetrics) = (DeliveryMetrics(), DevicePollMetrics())
        let deliveredMarks = DeliveredMarkWorker(hub: hub, store: store, metrics: deliveryMetrics, logger: logger)
        let devicePolls = DevicePollWorker(
            node: String(UInt64.random(in: 0...(.max)), radix: 36), hub: hub, store: store, metrics: deviceMetrics,
            wentAway: devicesWentAway, logger: logger)
        let receipts = ReceiptWorker(writer.unpublished, store: store, logger: logger)
        components = [
            Component(
                "tail", failures: [tail.metrics.failures],
                metrics: tail.metrics.write, run: tail.run),
            Component("hub", metrics: { hub.writeMetrics(to: &$0) }, run: hub.run),
            Component("writer", metrics: { writer.writeMetrics(to: &$0) }),
            Component("presence", failures: [presence.failures], run: presence.run),
            Component(
                "deliveredMarks", failures: [deliveryMetrics.failures], metrics: deliveryMetrics.write,
                run: deliveredMarks.run),
            Component(
                "devicePolls", failures: [deviceMetrics.failures], metrics: deviceMetrics.write, run: devicePolls.run),
            Component("receipts", failures: [receipts.failures], run: receipts.run),
        ]
        (self.hub, self.tail, self.writer, self.presence) = (hub, tail, writer, presence)
        self.devicePolls = devicePolls
    }
}
