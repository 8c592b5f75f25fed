// The schedule of one endpoint with a clock that the test sets.
import Basics
import Domain
import Webhooks
import Workers

struct TestedEndpoint {
    /// The wall clock and the monotonic clock differ, as they do on a machine.
    private static let firstMs: Int64 = 1_700_000_000_000
    private static let start = ContinuousClock.now
    static let a = ThreadID.make()
    static let b = ThreadID.make()
    static let c = ThreadID.make()

    var schedule: WebhookSchedule
    /// Since the test began.
    var timeMs: Int64 = 0
    /// The log's head, as the node knows it.
    var head: Int64 = 0

    /// Begins with claim 1, revision 1 of the settings, and a lease of an hour.
    init(
        retries: [Int] = [5, 300], isOrdered: Bool = true, leaseMs: Int64 = 3_600_000, claim: Int64 = 1,
        timeMs: Int64 = 0,
        limits: WebhookSchedule.Limits = .init()
    ) {
        self.timeMs = timeMs
        schedule = WebhookSchedule(
            claim: claim, revision: 1, isOrdered: isOrdered, leaseEnd: Self.instant(timeMs + leaseMs),
            retries: .webhook(seconds: retries), limits: limits, now: Self.now(timeMs))
    }

    static func instant(_ timeMs: Int64) -> ContinuousClock.Instant { start + .milliseconds(timeMs) }
    static func wallMs(_ timeMs: Int64) -> Int64 { firstMs + timeMs }
    static func now(_ timeMs: Int64) -> WebhookSchedule.Now {
        WebhookSchedule.Now(instant: instant(timeMs), ms: wallMs(timeMs))
    }

    static func name(of position: Int64) -> String { "evt_0_0_\(position)" }
    static func message(_ position: Int64, byteCount: Int = 10) -> WebhookMessage {
        WebhookMessage(id: name(of: position), body: Array(repeating: 32, count: byteCount))
    }

    static func event(_ position: Int64, _ thread: ThreadID? = nil, byteCount: Int = 10) -> WebhookSchedule.Event {
        WebhookSchedule.Event(
            position: Position(position), thread: thread, atMs: wallMs(0),
            message: message(position, byteCount: byteCount))
    }

    var now: WebhookSchedule.Now { Self.now(timeMs) }

    // MARK: Reports

    mutating func open(at position: Int64 = 0, waiting: [OpenDelivery] = []) {
        head = max(head, position)
        schedule.opened(at: Cursor(epoch: 0, position: Position(position)), waiting: waiting, now: now)
    }

    /// Opens at the beginning of a log that has these events, and reads them all.
    mutating func begin(_ events: [(Int64, ThreadID?)]) {
        open()
        read(events)
    }

    /// - Parameters:
    ///   - next: up to where the log was read; nil: up to the last event.
    ///   - end: the log's end; nil: `next`.
    mutating func read(
        _ events: [(Int64, ThreadID?)], next: Int64? = nil, end: Int64? = nil, byteCount: Int = 10
    ) {
        let next = next ?? events.last?.0 ?? head
        head = max(head, end ?? next)
        schedule.read(
            events.map { Self.event($0, $1, byteCount: byteCount) },
            next: Cursor(epoch: 0, position: Position(next)), end: Position(end ?? next))
    }

    @discardableResult
    mutating func answer(
        _ position: Int64, _ verdict: WebhookVerdict = .delivered(status: 200)
    ) -> WebhookSchedule.Outcome {
        schedule.answered(Position(position), verdict, random: 0.5, now: now)
    }

    /// Answers 500, which slows nothing down.
    @discardableResult
    mutating func fail(_ position: Int64) -> WebhookSchedule.Outcome {
        answer(position, .failed(status: 500, reason: .status, slows: false, asked: nil))
    }

    /// Reports the content of events as the log has it. Returns what the schedule makes of it.
    mutating func load(_ positions: Int64..., isKept: Bool = true) -> String {
        load(positions, isKept: isKept)
    }

    mutating func load(_ positions: [Int64], isKept: Bool = true) -> String {
        let loaded = schedule.loaded(
            positions.map { Position($0) }, isKept ? positions.map { Self.event($0) } : [], now: now)
        if loaded.lostCount > 0 { return "lost" }
        return loaded.sends.isEmpty ? "put back" : "send " + Self.list(loaded.sends.map(\.position))
    }

    private static func list(_ positions: [Position]) -> String {
        positions.map { "\($0.value)" }.joined(separator: ", ")
    }

    /// Reports a renewal. Returns whether the loop continues.
    mutating func renew(claim: Int64 = 1, revision: Int = 1, untilMs: Int64) -> Bool {
        schedule.renewed(claim: claim, revision: revision, leaseEnd: Self.instant(untilMs))
    }

    // MARK: Decisions

    /// The events whose requests begin now.
    mutating func sends() -> [Int64] { schedule.sends(now: now).map(\.position.value) }

    mutating func step() -> DeliveryStep<WebhookSchedule.Reading, WebhookSettlement> {
        schedule.head = Position(head)
        return schedule.step(now: now)
    }

    /// What the endpoint has not received, with a head of the log.
    mutating func lag(head: Int64) -> (eventCount: Int, seconds: Double) {
        schedule.head = Position(head)
        return schedule.lag(nowMs: Self.wallMs(timeMs))
    }

    /// The next step in words.
    mutating func stepName() -> String {
        switch step() {
        case .claim(.open): "open"
        case .claim(.read(let cursor)): "read after \(cursor.position.value)"
        case .claim(.load(let positions, _)): "load " + Self.list(positions)
        case .settle: "settle"
        case .wait: "wait"
        case .end: "end"
        }
    }

    /// The settlement that is due now; nil if another step is.
    mutating func settlement() -> WebhookSettlement? {
        if case .settle(let settlement) = step() { settlement } else { nil }
    }

    /// Performs the settlement that is due now. Returns it in words, or nil if another step is due.
    mutating func settle(isOurs: Bool = true) -> String? {
        guard let settlement = settlement() else { return nil }
        schedule.settled(isOurs: isOurs, now: now)
        return Self.words(settlement)
    }

    /// `cursor 3: delivered 1, failed 2, waiting 3`.
    static func words(_ settlement: WebhookSettlement) -> String {
        let outcomes = settlement.outcomes
        let parts =
            outcomes.delivered.map { "delivered \($0.position.value)" }
            + outcomes.open.map { "\($0.state) \($0.delivery.position.value)" }
            + outcomes.removed.map { "removed \($0.value)" } + (outcomes.isGone ? ["gone"] : [])
        return "cursor \(settlement.cursor.position.value): " + parts.joined(separator: ", ")
    }
}
