// What a node does next for one endpoint: read the log, send, record. Decisions only: no I/O, and time and chance are
// parameters. WebhookSchedule+answers.swift has the requests and their answers, WebhookSchedule+settling.swift the
// outcomes and the cursor.
import Domain

/// The deliveries to one endpoint, for one claim and one revision of its settings.
///
/// The caller reports what happened: `opened`, `read`, `loaded`, `answered`, `settled`, `renewed`, `stop`. It sends what
/// `sends` returns, and performs what `step` returns, one step at a time. Answers come at any time and in any order.
package struct WebhookSchedule: Sendable {
    package struct Limits: Sendable {
        /// Events that were read and are not yet delivered, without those that have rows. When the node is killed, at
        /// most this many are sent again.
        package var aheadCountMax = 512
        /// Their bodies.
        package var aheadByteCountMax = 4 << 20
        /// Events that failed or wait behind one. With more, the endpoint gets nothing new.
        package var openCountMax = 10_000
        /// Outcomes that are recorded without waiting for more.
        package var settleCountMin = 256
        /// The longest time until an outcome is recorded.
        package var settleWaitMax = Duration.milliseconds(250)
        /// The longest time until the cursor is recorded while the log has nothing for the endpoint.
        package var cursorWaitMax = Duration.seconds(5)
        /// Rows of waiting events of one settlement.
        package var waitingCountMax = 1_000

        package init() {}
    }

    /// The present time by both clocks: pauses and leases are measured by the monotonic one, and the database stores
    /// the times of retries.
    package struct Now: Sendable {
        package var instant: ContinuousClock.Instant
        /// Milliseconds since 1970.
        package var ms: Int64

        package init(instant: ContinuousClock.Instant, ms: Int64) {
            self.instant = instant
            self.ms = ms
        }
    }

    /// An event of the log for this endpoint.
    package struct Event: Sendable {
        package var position: Position
        package var thread: ThreadID?
        /// When the event happened, in ms since 1970.
        package var atMs: Int64
        package var message: WebhookMessage

        package init(position: Position, thread: ThreadID?, atMs: Int64, message: WebhookMessage) {
            self.position = position
            self.thread = thread
            self.atMs = atMs
            self.message = message
        }
    }

    /// A request to begin at once.
    package struct Sending: Sendable {
        package var position: Position
        package var message: WebhookMessage
    }

    /// What the caller does next.
    package enum Step: Sendable {
        /// Read the recorded place and the events that wait, and report `opened`.
        case open
        /// Read the log and report `read`, or `stop` if the endpoint has other settings, or the log no longer continues
        /// from the cursor.
        case read(after: Cursor)
        /// Read the event at this position, which is the first one after the cursor, and report `loaded`, or `stop` if
        /// the endpoint has other settings.
        case load(Position, after: Cursor)
        /// Record this and report `settled` or `settlementFailed`.
        case settle(WebhookSettlement)
        /// Ask again after the next wake-up.
        case wait
        /// Nothing is under way, and nothing more is to be done by this claim.
        case end
    }

    enum Phase {
        case running
        /// Nothing more is sent. The claim ends when nothing is under way and everything is recorded.
        case stopping
        /// Another claim has the endpoint: nothing can be recorded any more.
        case over
    }

    /// What is known of an event that is neither delivered nor parked.
    struct Item {
        var event: String
        var thread: ThreadID?
        var atMs: Int64
        /// Nil for an event with a row: it is read from the log again when its time comes.
        var message: WebhookMessage?
    }

    package let claim: Int64
    let revision: Int
    let retries: WebhookRetries
    let limits: Limits
    var queue: WebhookQueue
    var pace: WebhookPace
    var items: [Position: Item] = [:]
    /// Bodies in memory.
    var byteCount = 0
    /// Nil until the place was read from the database.
    var readTo: Cursor?
    private var hasMore = true
    /// Whether the last read found the log's end. The head may be ahead of what a read finds, so the next read waits
    /// for a wake-up.
    private var isAtEnd = false
    /// Events that count as under way, and whose content is to be read first.
    private(set) var missing: [Position] = []
    var outcomes = OutcomeBatch()
    /// What the caller is recording now.
    var settling: WebhookSettlement?
    var settledCursor: Cursor?
    var settledAt: ContinuousClock.Instant
    private var leaseEnd: ContinuousClock.Instant
    private(set) var phase = Phase.running

    /// - Parameter revision: of the endpoint's settings, by which everything of this schedule is read and sent.
    package init(
        claim: Int64, revision: Int, isOrdered: Bool, leaseEnd: ContinuousClock.Instant,
        retries: WebhookRetries, limits: Limits = Limits(), now: Now
    ) {
        self.claim = claim
        self.revision = revision
        self.retries = retries
        self.limits = limits
        self.leaseEnd = leaseEnd
        queue = WebhookQueue(isOrdered: isOrdered)
        pace = WebhookPace(longestWait: retries.longest)
        settledAt = now.instant
    }

    package var inFlightCount: Int { queue.inFlightCount }
    /// Whether nothing is under way.
    package var isIdle: Bool { queue.inFlightCount == 0 }
    /// Whether this claim still has the endpoint, as far as the node knows.
    package var isOurs: Bool { phase != .over }

    // MARK: The lease

    /// Reports that the lease was renewed. Returns whether the lane continues. Otherwise it stops, and the next lane
    /// begins from the recorded place: after a replay and with other settings.
    package mutating func renewed(claim: Int64, revision: Int, leaseEnd: ContinuousClock.Instant) -> Bool {
        guard claim == self.claim else {
            claimEnded()
            return false
        }
        guard revision == self.revision else {
            // What was read by the former settings and is not sent yet is read again.
            stop()
            return false
        }
        self.leaseEnd = leaseEnd
        return phase == .running
    }

    /// Reports that another claim has the endpoint. Nothing is sent or recorded any more.
    package mutating func claimEnded() { leave(.over) }

    /// Sends nothing more. What is under way may end, and is recorded.
    package mutating func stop() {
        if phase == .running { leave(.stopping) }
    }

    private mutating func leave(_ next: Phase) {
        phase = next
        // They were not sent yet.
        for position in missing { queue.unsent(position, retryAtMs: 0) }
        missing = []
    }

    // MARK: Reading

    /// Reports the recorded place, and the events that failed or wait behind failed ones.
    package mutating func opened(at cursor: Cursor, waiting: [OpenDelivery]) {
        guard readTo == nil else { return }
        for delivery in waiting {
            items[delivery.position] = Item(event: delivery.event, thread: delivery.thread, atMs: delivery.atMs)
            queue.add(
                delivery.position, thread: delivery.thread, tryCount: delivery.tryCount, dueMs: delivery.nextMs,
                isStored: true)
        }
        readTo = cursor
        settledCursor = cursor
    }

    /// Reports the next events of the log, perhaps none.
    ///
    /// - Parameters:
    ///   - next: up to where the log was read.
    ///   - end: the log's end in the same snapshot.
    package mutating func read(_ events: [Event], next: Cursor, end: Position) {
        for event in events where items[event.position] == nil {
            items[event.position] = Item(
                event: event.message.id, thread: event.thread, atMs: event.atMs, message: event.message)
            byteCount += event.message.body.count
            queue.add(event.position, thread: event.thread)
        }
        readTo = next
        hasMore = next.position < end
        isAtEnd = !hasMore
    }

    /// Reports the content of an event that failed earlier.
    ///
    /// - Parameter message: what the log has at this position; nil if it has nothing there any more.
    /// - Returns: the request to begin, or that the event is lost.
    package mutating func loaded(_ position: Position, _ message: WebhookMessage?, now: Now) -> Loaded {
        guard let index = missing.firstIndex(of: position), let item = items[position] else { return .putBack }
        missing.remove(at: index)
        guard let message, message.id == item.event else {
            items[position] = nil
            queue.done(position)
            outcomes.remove(position)
            return .lost
        }
        guard maySend(now), pace.room(inFlightCount: queue.inFlightCount - 1, now: now.instant) > 0 else {
            // The content is read once more, because it may be deleted until then.
            queue.unsent(position, retryAtMs: now.ms)
            return .putBack
        }
        items[position]?.message = message
        byteCount += message.body.count
        return .send(Sending(position: position, message: message))
    }

    package enum Loaded: Sendable {
        case send(Sending)
        /// The event may not be sent now.
        case putBack
        /// The log no longer has the event.
        case lost
    }

    // MARK: Deciding

    /// Returns the requests that may begin now. They count as under way until they are answered.
    package mutating func sends(now: Now) -> [Sending] {
        guard maySend(now) else { return [] }
        var room = pace.room(inFlightCount: queue.inFlightCount, now: now.instant)
        var sends: [Sending] = []
        while room > 0, let position = queue.next(nowMs: now.ms) {
            room -= 1
            if let message = items[position]?.message {
                sends.append(Sending(position: position, message: message))
            } else {
                missing.append(position)
            }
        }
        return sends
    }

    /// Returns what to do next. `sends` comes first.
    ///
    /// - Parameter head: the log's head, as the node knows it.
    package mutating func step(head: Position, now: Now) -> Step {
        guard phase != .over else { return .end }
        guard let readTo else { return phase == .running ? .open : .end }
        if isSettleDue(now), let settlement = takeSettlement() { return .settle(settlement) }
        if let position = missing.first {
            return .load(position, after: Cursor(epoch: readTo.epoch, position: Position(position.value - 1)))
        }
        if isToRead(head: head, after: readTo) { return .read(after: readTo) }
        if isIdle, !outcomes.isEmpty, let settlement = takeSettlement() { return .settle(settlement) }
        isAtEnd = false
        return phase == .stopping && isIdle ? .end : .wait
    }

    /// Events of the log after the cursor that are neither delivered nor parked, and the age of the oldest known one.
    package func lag(head: Position, nowMs: Int64) -> (eventCount: Int, seconds: Double) {
        let unread = readTo.map { max(0, head.value - $0.position.value) } ?? 0
        let oldest = items.values.lazy.map(\.atMs).min()
        return (Int(unread) + queue.count, oldest.map { Double(max(0, nowMs - $0)) / 1_000 } ?? 0)
    }

    /// Whether there is room for more of the log than half of what may be read ahead.
    var hasRoomToRead: Bool { hasMore && aheadCount < limits.aheadCountMax / 2 }

    private func maySend(_ now: Now) -> Bool { phase == .running && now.instant < leaseEnd }

    private var aheadCount: Int { queue.count - queue.storedCount }

    private func isToRead(head: Position, after cursor: Cursor) -> Bool {
        phase == .running && !isAtEnd && (hasMore || head > cursor.position) && aheadCount < limits.aheadCountMax
            && queue.storedCount < limits.openCountMax && byteCount < limits.aheadByteCountMax
    }
}
