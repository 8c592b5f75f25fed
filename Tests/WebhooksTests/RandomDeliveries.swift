// The laws of deliveries in random histories: nodes die, leases end, the database and the endpoint fail.
import Domain
import TestSupport
import Testing
import Webhooks

@Suite("Random deliveries to a webhook", .timeLimit(.minutes(1)))
struct RandomDeliveries {
    @Test("get each event at least once, in order in each thread, with nothing sent in a pause or without a lease")
    func laws() {
        var seeds = SplitMix64(freshFor: "random deliveries to a webhook")
        for _ in 0..<60 {
            var history = History(seed: seeds.next())
            for _ in 0..<600 { history.advance() }
            history.finish()
        }
    }
}

/// An endpoint, the log, the database's rows, and the node that delivers, or none.
private struct History {
    private static let threads: [ThreadID?] = (0..<5).map { _ in ThreadID.make() } + [nil]
    private static let retries = Array(repeating: 1, count: 30)
    private static let leaseMs: Int64 = 3_000

    private var random: SplitMix64
    private var timeMs: Int64 = 0
    private var log: [(position: Int64, thread: ThreadID?)] = []
    private var head: Int64 = 0
    // The database.
    private var claim: Int64 = 0
    private var cursor: Int64 = 0
    private var rows: [Int64: OpenDelivery] = [:]
    // The node.
    private var node: TestedEndpoint?
    private var leaseEndMs: Int64 = 0
    private var underWay: [Int64] = []
    private var isStopped = false
    /// When the endpoint's pause ends.
    private var pausedUntilMs: Int64 = 0
    // What the endpoint has accepted.
    private var accepted: Set<Int64> = []
    private var lastOfThread: [ThreadID?: Int64] = [:]

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    mutating func advance() {
        timeMs += Int64(random.below(120))
        switch random.below(20) {
        case 0..<6: append()
        case 6..<13: answerOne(failing: true)
        case 13: renewOrStop()
        case 14 where random.chance(4): die()
        case 15 where random.chance(6): replay()
        default: perform(failing: true)
        }
        check()
    }

    /// Lets everything succeed until nothing is left, and checks that the endpoint has everything.
    mutating func finish() {
        for _ in 0..<2_000 {
            timeMs += 50
            renew()
            perform(failing: false)
            while !underWay.isEmpty { answerOne(failing: false) }
            check()
            if cursor == head, rows.isEmpty, accepted.count == log.count { return }
        }
        Issue.record(
            "\(log.count - accepted.count) events are missing; cursor \(cursor) of \(head), \(rows.count) rows")
    }

    private mutating func append() {
        head += Int64(random.below(3)) + 1
        log.append((head, Self.threads[random.below(Self.threads.count)]))
    }

    /// Performs what the node asks for. A kill may come after each step.
    private mutating func perform(failing: Bool) {
        if node == nil { begin() }
        for _ in 0..<(failing ? random.below(4) + 1 : 50) {
            guard node != nil else { return }
            node?.timeMs = timeMs
            node?.head = head
            for position in node?.sends() ?? [] { send(position) }
            switch node?.step() {
            case .claim(.open): open()
            case .claim(.read(let after)): read(after: after.position.value)
            case .claim(.load(let positions, _)): load(positions.map(\.value))
            case .settle(let settlement): settle(settlement, isLost: failing && random.chance(6))
            case .end:
                #expect(node?.schedule.isIdle == true || node?.schedule.isOurs == false)
                node = nil
                underWay = []
                return
            case .wait, nil: return
            }
        }
    }

    private mutating func begin() {
        claim += 1
        leaseEndMs = timeMs + Self.leaseMs
        node = TestedEndpoint(retries: Self.retries, leaseMs: Self.leaseMs, claim: claim, timeMs: timeMs)
        (underWay, isStopped, pausedUntilMs) = ([], false, 0)
    }

    private mutating func open() {
        node?.open(at: cursor, waiting: rows.values.sorted { $0.position < $1.position })
    }

    private mutating func read(after: Int64) {
        #expect(!isStopped)
        let part = log.filter { $0.position > after }.prefix(random.below(4) + 1)
        let isLast = part.last?.position == log.last?.position || part.isEmpty
        node?.read(
            part.map { ($0.position, $0.thread) }, next: isLast ? head : part.last?.position ?? head, end: head)
    }

    private mutating func load(_ positions: [Int64]) {
        let loaded = node?.schedule.loaded(
            positions.map { Position($0) }, positions.map { TestedEndpoint.event($0) }, now: TestedEndpoint.now(timeMs))
        for sending in loaded?.sends ?? [] { send(sending.position.value) }
    }

    private mutating func send(_ position: Int64) {
        #expect(timeMs < leaseEndMs && !isStopped, "sent without a lease")
        #expect(timeMs >= pausedUntilMs, "sent in a pause")
        let thread = thread(of: position)
        #expect(!underWay.contains { self.thread(of: $0) == thread }, "two of a thread")
        underWay.append(position)
        #expect(underWay.count <= 32)
    }

    private mutating func answerOne(failing: Bool) {
        guard !underWay.isEmpty else { return }
        let position = underWay.remove(at: random.below(underWay.count))
        node?.timeMs = timeMs
        let verdict: WebhookVerdict
        switch failing ? random.below(12) : 11 {
        case 0, 1: verdict = .failed(status: 500, reason: .status, slows: false, asked: nil)
        case 2:
            verdict = .failed(status: 429, reason: .status, slows: true, asked: .milliseconds(1_500))
            pausedUntilMs = max(pausedUntilMs, timeMs + 1_500)
        case 3: verdict = .unsent
        default:
            verdict = .delivered(status: 200)
            accept(position)
        }
        #expect(node?.answer(position, verdict) != .unknown)
    }

    private mutating func accept(_ position: Int64) {
        guard accepted.insert(position).inserted else { return }
        let thread = thread(of: position)
        #expect(lastOfThread[thread] ?? 0 < position, "out of order")
        lastOfThread[thread] = position
    }

    private mutating func renew() {
        guard let claim = node?.schedule.claim, claim == self.claim else {
            _ = node?.schedule.renewed(claim: self.claim, revision: 1, leaseEnd: TestedEndpoint.instant(timeMs))
            return
        }
        leaseEndMs = timeMs + Self.leaseMs
        _ = node?.schedule.renewed(claim: claim, revision: 1, leaseEnd: TestedEndpoint.instant(leaseEndMs))
    }

    private mutating func renewOrStop() {
        guard node != nil, random.chance(4) else { return renew() }
        node?.schedule.stop()
        isStopped = true
    }

    /// The node is killed. Of the requests under way some arrive.
    private mutating func die() {
        for position in underWay where random.chance(2) { accept(position) }
        node = nil
        underWay = []
    }

    private mutating func replay() {
        cursor = min(cursor, Int64(random.below(Int(head) + 1)))
        rows = rows.filter { $0.key <= cursor }
        claim += 1
        renew()
        isStopped = true
    }

    private mutating func settle(_ settlement: WebhookSettlement, isLost: Bool) {
        guard !isLost else {
            node?.schedule.settlementFailed(settlement)
            return
        }
        let isOurs = node?.schedule.claim == claim
        if isOurs {
            #expect(settlement.cursor.position.value <= head)
            cursor = settlement.cursor.position.value
            for delivered in settlement.outcomes.delivered { rows[delivered.position.value] = nil }
            for open in settlement.outcomes.open {
                #expect(open.state != .parked)
                rows[open.delivery.position.value] = open.delivery
            }
        }
        node?.schedule.settled(isOurs: isOurs, now: TestedEndpoint.now(timeMs))
    }

    /// The cursor has passed only what was accepted or has a row.
    private func check() {
        for event in log where event.position <= cursor {
            #expect(accepted.contains(event.position) || rows[event.position] != nil, "the cursor lost an event")
        }
    }

    private func thread(of position: Int64) -> ThreadID? { log.first { $0.position == position }?.thread }
}
