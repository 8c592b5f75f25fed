// The law of alerts, on real nodes: each device gets one alert for each message, or has received the message.
import Domain
import Store
import Synchronization
import TestSupport
import Testing

@testable import Log

@Suite("Alerts", .timeLimit(.minutes(1)))
struct LawsOfAlerts {
    private struct Device: Hashable {
        var identity: Identity
        var number: Int
    }

    /// The alerts that were sent, and what devices have received.
    private final class Seen: Sendable {
        private let accepted = Mutex<[SessionID: [Int64: Int]]>([:])
        private let confirmed = Mutex<[SessionID: Int64]>([:])
        private let over = Atomic(false)
        let seed = Seed.fresh("alerts to devices that come and go")

        var isOver: Bool { over.load(ordering: .relaxed) }
        func end() { over.store(true, ordering: .relaxed) }

        func accept(_ alert: ClaimedAlert) {
            guard case .message = alert.alert.content else { return }
            accepted.withLock { $0[alert.session, default: [:]][alert.position.value, default: 0] += 1 }
        }

        func confirm(_ cursor: Cursor, by session: SessionID) {
            confirmed.withLock { $0[session] = max($0[session] ?? 0, cursor.position.value) }
        }

        func alerts(to session: SessionID) -> [Int64: Int] { accepted.withLock { $0[session] ?? [:] } }
        func has(_ session: SessionID) -> Int64 { confirmed.withLock { $0[session] ?? 0 } }
    }

    /// Five people in a group; all but the first have two devices.
    private struct Crowd {
        let sender: UserID
        let thread: ThreadID
        let devices: [Device]

        init(_ store: Store, _ conninfo: String) async throws {
            let people = try await People(5, in: store)
            sender = people.users[0]
            thread = try await people.group(people.users, in: store)
            devices = people.users.dropFirst().flatMap { [$0, $0] }.enumerated().map { number, user in
                Device(identity: Identity(user: user, session: SessionID.make()), number: number)
            }
            for device in devices {
                try await Psql.run(
                    """
                    insert into sessions (id, user_id, token_digest, created_at, last_used_at)
                    values ('\(device.identity.session)', '\(device.identity.user)', '\(device.number)', now(), now())
                    """, conninfo: conninfo)
                try await store.putPushTarget(.fcm(token: "t\(device.number)"), of: device.identity)
            }
        }
    }

    private static let messageCount = 100

    @Test(
        "reach each device once for each message, unless it has received the message: devices come, go and change nodes, nodes die"
    )
    func once() async throws {
        let conninfo = try await MigratedDatabase.create()
        var limits = HubLimits()
        limits.deviceWaitTickCount = 1
        let nodes = try await [
            LogNode(conninfo: conninfo, limits: limits), LogNode(conninfo: conninfo, limits: limits),
        ]
        let seen = Seen()
        try await nodes[0].running {
            try await nodes[1].running {
                let crowd = try await Crowd(nodes[0].store, conninfo)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for node in nodes { group.addTask { try await Self.make(node.store) } }
                    for node in nodes { group.addTask { try await Self.send(node.store, seen) } }
                    try await Self.live(crowd, nodes, seen, conninfo)
                    let rest = "select (select count(*) from push_jobs) + (select count(*) from device_polls)"
                    try await Self.none(rest, conninfo)
                    group.cancelAll()
                }
                try await Self.check(crowd, seen, conninfo)
            }
        }
    }

    /// Runs everything, with the workers that report devices. At the end the second node is killed, and never reports
    /// which of its devices went.
    private static func live(_ crowd: Crowd, _ nodes: [LogNode], _ seen: Seen, _ conninfo: String) async throws {
        let keepers = nodes.enumerated().map { number, node in
            let keeper = DevicePollWorker(
                node: "n\(number)", hub: node.hub, store: node.store, metrics: DevicePollMetrics(), wentAway: {},
                logger: .quiet)
            return Task { try await keeper.run() }
        }
        try await withThrowingDiscardingTaskGroup { group in
            for device in crowd.devices { group.addTask { try await poll(device, nodes, seen) } }
            group.addTask {
                for number in 0..<messageCount {
                    _ = try await nodes[number % 2].writer.append(
                        .text("\(number)", in: crowd.thread, by: crowd.sender))
                    try await Task.sleep(for: .milliseconds(number % 10 == 0 ? 150 : 5))
                }
                seen.end()
            }
        }
        keepers[1].cancel()
        _ = await keepers[1].result
        try await Psql.run(
            "update presence_nodes set seen_at = seen_at - interval '1 hour' where node = 'n1'", conninfo: conninfo)
        _ = try await nodes[0].store.sweepDevicePolls()
        try await eventually("no device is left at the hub") { nodes[0].hub.devices.isEmpty }
        try await none("select count(*) from device_polls where node <> ''", conninfo)
        keepers[0].cancel()
        _ = await keepers[0].result
    }

    /// Waits until a count in the database is zero.
    private static func none(_ count: String, _ conninfo: String) async throws {
        try await eventually("\(count) returns 0") { try await Psql.run(count, conninfo: conninfo) == "0" }
    }

    private static func check(_ crowd: Crowd, _ seen: Seen, _ conninfo: String) async throws {
        let positions = try await Psql.run("select pos from messages order by pos", conninfo: conninfo)
            .split(separator: "\n").compactMap { Int64($0) }
        #expect(positions.count == messageCount)
        var total = 0
        for device in crowd.devices {
            let alerts = seen.alerts(to: device.identity.session)
            let confirmed = seen.has(device.identity.session)
            total += alerts.count
            #expect(alerts.values.allSatisfy { $0 == 1 }, "device \(device.number): \(alerts)")
            let missing = positions.filter { $0 > confirmed && alerts[$0] == nil }
            #expect(missing == [], "device \(device.number), which has \(confirmed)")
        }
        // Otherwise the devices had all messages or none, and the test proves nothing.
        #expect(total > messageCount / 10 && total < positions.count * crowd.devices.count, "\(total)")
    }

    private static func make(_ store: Store) async throws {
        while !Task.isCancelled {
            let part = try await store.planAlerts(limit: 7, lifeSeconds: 3_600, delayMs: 300)
            if !part.hasMore { try await Task.sleep(for: .milliseconds(20)) }
        }
    }

    /// Claims and sends alerts, some at the second attempt.
    private static func send(_ store: Store, _ seen: Seen) async throws {
        while !Task.isCancelled {
            let claim = try await store.claimAlerts(.fcm, limit: 3, leaseSeconds: 60, lifeSeconds: 3_600)
            guard !claim.alerts.isEmpty || !claim.suppressed.isEmpty else {
                try await Task.sleep(for: .milliseconds(20))
                continue
            }
            let settlements = claim.alerts.map { claimed in
                guard claimed.alert.attempt > 1 || claimed.position.value.isMultiple(of: 3) else {
                    return PushSettlement(claimed, .retry(waitMs: 10))
                }
                seen.accept(claimed)
                return PushSettlement(claimed, .done)
            }
            _ = try await store.settleAlerts(settlements)
        }
    }

    /// A device that polls at any node, loses answers, and pauses at random.
    private static func poll(_ device: Device, _ nodes: [LogNode], _ seen: Seen) async throws {
        var random = SplitMix64(seed: seen.seed &+ UInt64(device.number))
        var cursor = try await nodes[0].store.now()
        while !seen.isOver {
            seen.confirm(cursor, by: device.identity.session)
            let node = nodes[random.chance(8) ? 1 : device.number % 2]
            let answer = try await node.poll(
                device.identity, from: cursor, limit: 1 + random.below(5), waitMs: random.below(300))
            if case .events(_, let upTo, _) = answer, !random.chance(5) { cursor = upTo }
            if random.chance(12) { try await Task.sleep(for: .milliseconds(random.below(1_500))) }
        }
    }
}
