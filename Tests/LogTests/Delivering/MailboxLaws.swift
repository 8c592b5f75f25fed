// The law of the mailbox over random histories: no event is lost, doubled, out of order, or another user's, whether a
// poll is answered at once, parked, sent to the database, timed out or removed.
import Domain
import Store
import TestSupport
import Testing

@testable import Log

@Suite("The law of mailboxes", .timeLimit(.minutes(1)))
struct MailboxLaws {
    @Test(
        "each device gets exactly its user's events of the log, from any node",
        arguments: Seed.fresh("the law of mailboxes", count: 300))
    func law(seed: UInt64) throws {
        var world = World(seed: seed)
        while !world.isAtEnd { world.go() }
        world.finish()
        for device in world.devices {
            let expected = world.history.visible(to: device.user, after: device.start, upTo: world.end)
            #expect(device.seen == expected, "seed \(seed)")
        }
        #expect(world.nodes.allSatisfy { $0.counters.parked == 0 }, "seed \(seed)")
        #expect(world.faults == [], "seed \(seed)")
    }

    @Test("the histories include waiting polls, overflowing and closing mailboxes, and withdrawn messages")
    func isTried() {
        var parked = 0
        var dropped = 0
        var cold = 0
        for seed in UInt64(1)...20 {
            var world = World(seed: seed)
            while !world.isAtEnd { world.go() }
            parked += world.parkedCount
            cold += world.coldCount
            dropped += world.nodes.reduce(0) { $0 + $1.counters.dropped }
        }
        #expect(parked > 500 && cold > 500 && dropped > 500, "\(parked) parked, \(cold) cold, \(dropped) dropped")
    }
}

/// A client with one chain of cursors.
private struct Device {
    let user: UserID
    let session = SessionID.make()
    let start: Int64
    var cursor: Int64
    var seen: [Int64] = []
    /// The node where its poll waits, if it does.
    var parked: (node: Int, poll: UInt64)?
}

/// Two nodes at different positions of one log, and devices that alternate between them.
private struct World {
    let history: RandomHistory
    var nodes: [HubState]
    var devices: [Device] = []
    /// Wrong answers.
    var faults: [String] = []
    var parkedCount = 0
    var coldCount = 0
    private var random: SplitMix64

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        history = RandomHistory(count: 150, random: &random)
        // Small limits, so that all of them are reached.
        var limits = HubLimits()
        limits.mailboxEventCountMax = 3 + Int(random.next() % 6)
        limits.recentEventCountMax = 5 + Int(random.next() % 30)
        limits.mailboxIdleTickCountMax = 20
        nodes = (0..<2).map { _ in HubState(start: Self.cursor(0), limits: limits) }
        for user in history.users {
            for _ in 0..<2 {
                let start = Int64(random.next() % 60)
                devices.append(Device(user: user, start: start, cursor: start))
            }
        }
    }

    var end: Int64 { Int64(history.events.count) }
    var isAtEnd: Bool { nodes.allSatisfy { $0.head.value == end } }
    /// The log's head: as far as any node has read it.
    private var written: Int64 { nodes.map(\.head.value).max() ?? 0 }

    private static func cursor(_ position: Int64) -> Cursor { Cursor(epoch: 1, position: Position(position)) }

    /// Some events reach a node, time passes, some devices act.
    mutating func go() {
        let node = Int(random.next() % 2)
        let head = Int(nodes[node].head.value)
        let events = history.events[head..<min(head + 1 + Int(random.next() % 8), history.events.count)]
        take(nodes[node].apply(Array(events)))
        for _ in 0..<Int(random.next() % 12) { take(nodes[node].advance()) }
        for index in devices.indices where devices[index].start <= written {
            switch random.next() % 4 {
            case 0, 2: ask(index, of: Int(random.next() % 2), waitTickCount: Int(random.next() % 40))
            case 1 where random.next() % 4 == 0: giveUp(index)
            default: break
            }
        }
    }

    /// Lets the waits end, and each device poll until it has everything.
    mutating func finish() {
        for node in nodes.indices {
            for _ in 0..<50 { take(nodes[node].advance()) }
        }
        for index in devices.indices {
            for _ in 0..<200 where devices[index].cursor < end { ask(index, of: index % 2, waitTickCount: 0) }
        }
    }

    private mutating func ask(_ index: Int, of node: Int, waitTickCount: Int) {
        guard devices[index].parked == nil else { return }
        let limit = 1 + Int(random.next() % 5)
        for attempt in 0..<3 {
            let device = devices[index]
            let decision = nodes[node].poll(
                Identity(user: device.user, session: device.session), from: Self.cursor(device.cursor), limit: limit,
                waitTickCount: waitTickCount, waiter: NumberedWaiter(index))
            switch decision {
            case .answer(let answer): return take(answer, index, from: node)
            case .parked(let poll, _):
                parkedCount += 1
                devices[index].parked = (node, poll)
                return
            case .cold:
                coldCount += 1
                if attempt == 2 || read(index, on: node, limit: limit) { return }
            }
        }
    }

    /// Does what `Hub.read` does. Returns true if it answered the device.
    private mutating func read(_ index: Int, on node: Int, limit: Int) -> Bool {
        let device = devices[index]
        // The snapshot is at the cursor or later; it may be behind or ahead of the node's tail.
        let low = max(device.cursor, nodes[node].head.value - 5)
        let high = max(low, min(end, written + 5))
        let snapshot = low + Int64(random.next() % UInt64(high - low + 1))
        let found = history.visible(to: device.user, after: device.cursor, upTo: snapshot)
        guard found.count <= limit else {
            devices[index].seen += found.prefix(limit)
            devices[index].cursor = found[limit - 1]
            return true
        }
        let threads = Array(history.memberships[Int(snapshot)][device.user] ?? [])
        _ = nodes[node].open(device.user, threads: threads, at: Self.cursor(snapshot))
        devices[index].seen += found
        devices[index].cursor = snapshot
        return !found.isEmpty
    }

    /// The client disconnects, and will poll again with the same cursor.
    private mutating func giveUp(_ index: Int) {
        guard let (node, poll) = devices[index].parked else { return }
        devices[index].parked = nil
        if !nodes[node].cancel(devices[index].user, poll: poll) { faults.append("a waiting poll was not there") }
    }

    private mutating func take(_ wakes: [Wake]) {
        for wake in wakes {
            for index in wake.numbers {
                guard let parked = devices[index].parked else {
                    faults.append("an answer to who doesn't wait")
                    continue
                }
                devices[index].parked = nil
                take(wake.answer, index, from: parked.node)
            }
        }
    }

    private mutating func take(_ answer: PollAnswer, _ index: Int, from node: Int) {
        guard case .events(let events, let upTo, let more) = answer else {
            faults.append("no events but \(answer)")
            return
        }
        let withdrawn = history.withdrawn(by: nodes[node].head.value)
        let positions = events.map(\.position.value)
        if !withdrawn.isDisjoint(with: positions) { faults.append("content that was withdrawn") }
        if upTo.position.value < devices[index].cursor { faults.append("a cursor that goes back") }
        if events.isEmpty, more, upTo.position.value != devices[index].cursor { faults.append("a skip") }
        devices[index].seen += positions
        devices[index].cursor = upTo.position.value
    }
}
