// What a node does next for one endpoint: read the log, send, record. Decisions only: no I/O, and time and chance are
// parameters. WebhookSchedule+answers.swift has the requests and their answers, WebhookSchedule+settling.swift the
// outcomes and the cursor.
import Basics
import Domain
import Workers

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
        /// Events with rows whose content is read with one query. Each has the next ones of its thread with it.
        package var loadCountMax = 64

        package init() {}
    }

    package typealias Now = DeliveryTime

    /// An event of the log for this endpoint.
    package struct Event: Sendable {
        package var position: Position
        package var thread: ThreadID?
        /// The time of the event, in ms since 1970.
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

    /// What the caller reads next.
    package enum Reading: Sendable {
        /// Read the recorded place and the events that wait, and report `opened`.
        case open
        /// Read the log and report `read`, or `stop` if the endpoint has other settings, or the log no longer continues
        /// from the cursor.
        case read(after: Cursor)
        /// Read the events at these positions and report `loaded`, or `stop` if the endpoint has other settings. The
        /// cursor is where the log was read.
        case load([Position], by: Cursor)
    }

    enum Phase {
        case running
        /// Nothing more is sent. The claim ends when nothing is under way and everything is recorded.
        case stopping
        /// Another claim has the endpoint: nothing can be recorded any more.
        case over
    }

    /// An event that is neither delivered nor parked. With order, one event of a thread is under way at a time, and
    /// events without a thread count as one thread. Without order, every event has a line of its own.
    struct Item: Deliverable {
        enum Line: Hashable {
            case thread(ThreadID?)
            case event(Position)
        }

        typealias Outcome = WebhookOutcome

        var key: Position
        var line: Line
        var event: String
        var thread: ThreadID?
        var atMs: Int64
        /// It is nil for an event with a row: it is read from the log again when its turn comes.
        var message: WebhookMessage?
        /// Its planned time, if its last try failed in an outage of the endpoint, and there was no early try since.
        var retryAt: ContinuousClock.Instant?
        /// Whether its next try is the early one, which does not count.
        var isEarly = false

        func delivery(
            tryCount: Int = 0, nextMs: Int64? = nil, status: Int? = nil, reason: String? = nil
        ) -> OpenDelivery {
            OpenDelivery(
                position: key, event: event, thread: thread, atMs: atMs, tryCount: tryCount, nextMs: nextMs,
                status: status, reason: reason)
        }
    }

    package let claim: Int64
    let revision: Int
    let isOrdered: Bool
    let retries: Retries
    let limits: Limits
    /// The log's head, as the node knows it.
    package var head = Position.start
    var queue: DeliveryQueue<Item>
    /// Bodies in memory.
    var byteCount = 0
    /// It is nil until the place was read from the database.
    var readTo: Cursor?
    private var hasMore = true
    /// Whether the last read found the log's end. The head may be ahead of what a read finds, so the next read waits
    /// for a wake-up.
    private var isAtEnd = false
    /// Events that count as under way, and whose content is to be read first.
    private var missing: [Position] = []
    /// Events with rows whose content was read with that of the event before them in their thread.
    var loadedAhead: Set<Position> = []
    /// Whether the endpoint as a whole failed, and has accepted nothing since.
    var hasOutage = false
    /// What the caller is recording now.
    var settling: WebhookSettlement?
    var settledCursor: Cursor?
    private(set) var phase = Phase.running

    /// - Parameter revision: of the endpoint's settings, by which everything of this schedule is read and sent.
    package init(
        claim: Int64, revision: Int, isOrdered: Bool, leaseEnd: ContinuousClock.Instant,
        retries: Retries, limits: Limits = Limits(), now: Now
    ) {
        self.claim = claim
        self.revision = revision
        self.isOrdered = isOrdered
        self.retries = retries
        self.limits = limits
        var queueLimits = DeliveryQueue<Item>.Limits()
        queueLimits.settleCountMin = limits.settleCountMin
        queueLimits.settleWaitMax = limits.settleWaitMax
        queue = DeliveryQueue(
            limits: queueLimits, pace: Pace(.webhook(longestWait: retries.longest)), leaseEnd: leaseEnd,
            now: now.instant)
    }

    package var inFlightCount: Int { queue.inFlightCount }
    /// Whether nothing is under way.
    package var isIdle: Bool { queue.inFlightCount == 0 }
    /// Whether this claim still has the endpoint, as far as the node knows.
    package var isOurs: Bool { phase != .over }

    // MARK: The lease

    /// Reports that the lease was renewed. Returns whether the loop continues. Otherwise it stops, and the next loop
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
        queue.leaseEnd = leaseEnd
        return phase == .running
    }

    /// Reports that another claim has the endpoint. Nothing is sent or recorded any more.
    package mutating func claimEnded() { leave(.over) }

    /// Sends nothing more. What is under way may end, and is recorded.
    package mutating func stop() {
        if phase == .running { leave(.stopping) }
    }

    /// As `stop`, because the node stops.
    package mutating func close() {
        stop()
        queue.close()
    }

    private mutating func leave(_ next: Phase) {
        phase = next
        // They were not sent yet.
        for position in missing { queue.answered(position, nil, .putBack()) }
        missing = []
    }

    // MARK: Reading

    /// Reports the recorded place, and the events that failed or wait behind failed ones.
    package mutating func opened(at cursor: Cursor, waiting: [OpenDelivery], now: Now) {
        guard readTo == nil else { return }
        for delivery in waiting {
            let dueAt = delivery.nextMs.map { now.instant + .milliseconds($0 - now.ms) }
            var item = item(delivery.position, delivery.event, delivery.thread, atMs: delivery.atMs)
            if WebhookVerdict.isOutage(status: delivery.status, reason: delivery.reason) {
                (item.retryAt, hasOutage) = (dueAt, true)
            }
            queue.add(item, tryCount: delivery.tryCount, dueAt: dueAt, isStored: true)
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
        for event in events where queue[event.position] == nil {
            byteCount += event.message.body.count
            queue.add(item(event.position, event.message.id, event.thread, atMs: event.atMs, event.message))
        }
        readTo = next
        hasMore = next.position < end
        isAtEnd = !hasMore
    }

    /// Reports the content of events that failed or waited, those that the log still has.
    ///
    /// - Returns: the requests to begin, and how many events are lost.
    package mutating func loaded(
        _ positions: [Position], _ events: [Event], now: Now
    ) -> (sends: [Sending], lostCount: Int) {
        let messages = Dictionary(events.map { ($0.position, $0.message) }) { first, _ in first }
        // In a pause the content is read once more after it, because it may be deleted until then.
        let keepsAhead = maySend(now) && queue.pace.pause(now: now.instant) == nil
        var (sends, lostCount): ([Sending], Int) = ([], 0)
        for position in positions {
            guard let item = queue[position] else { continue }
            let message = messages[position].flatMap { $0.id == item.event ? $0 : nil }
            guard let index = missing.firstIndex(of: position) else {
                if let message, item.message == nil, keepsAhead { keepAhead(position, message) }
                continue
            }
            missing.remove(at: index)
            guard let message else {
                queue.answered(position, .removed)
                lostCount += 1
                continue
            }
            guard maySend(now), queue.pace.room(inFlightCount: queue.inFlightCount - 1, now: now.instant) > 0 else {
                queue.answered(position, nil, .putBack(at: now.instant))
                continue
            }
            keep(position, message)
            sends.append(Sending(position: position, message: message))
        }
        return (sends, lostCount)
    }

    private mutating func keep(_ position: Position, _ message: WebhookMessage) {
        queue[position]?.message = message
        byteCount += message.body.count
    }

    private mutating func keepAhead(_ position: Position, _ message: WebhookMessage) {
        keep(position, message)
        loadedAhead.insert(position)
    }

    // MARK: Deciding

    /// Returns the requests that may begin now. They count as under way until they are answered.
    package mutating func sends(now: Now) -> [Sending] {
        guard maySend(now) else { return [] }
        return queue.sends(now: now.instant).compactMap { item in
            if let message = item.message { return Sending(position: item.key, message: message) }
            missing.append(item.key)
            return nil
        }
    }

    /// Returns what to do next. `sends` comes first.
    package mutating func step(now: Now) -> DeliveryStep<Reading, WebhookSettlement> {
        guard phase != .over else { return .end }
        guard let readTo else { return phase == .running ? .claim(.open) : .end }
        if isSettleDue(now), let settlement = takeSettlement() { return .settle(settlement) }
        if !missing.isEmpty { return .claim(.load(positionsToLoad, by: readTo)) }
        if isToRead(after: readTo) { return .claim(.read(after: readTo)) }
        if queue.maySettleRest, let settlement = takeSettlement() { return .settle(settlement) }
        isAtEnd = false
        return phase == .stopping && isIdle && settling == nil ? .end : .wait
    }

    /// Events of the log after the cursor that are neither delivered nor parked, and the age of the oldest known one.
    package func lag(nowMs: Int64) -> (eventCount: Int, seconds: Double) {
        let unread = readTo.map { max(0, head.value - $0.position.value) } ?? 0
        let oldest = queue.items.lazy.map(\.atMs).min()
        return (Int(unread) + queue.count, oldest.map { Double(max(0, nowMs - $0)) / 1_000 } ?? 0)
    }

    /// Whether there may be a step to perform now. Otherwise the next wake-up is soon enough. `sends` comes first, because
    /// it finds events whose content is to be read: their threads wait for that.
    package var needsStep: Bool { queue.needsStep || hasRoomToRead || !missing.isEmpty }

    /// Whether there is room for more of the log than half of what may be read ahead.
    private var hasRoomToRead: Bool { hasMore && aheadCount < limits.aheadCountMax / 2 }

    private func maySend(_ now: Now) -> Bool { phase == .running && queue.leaseEnd.map { now.instant < $0 } ?? true }

    /// The events that wait for their content, and the next ones of their threads: after an outage each thread has a queue
    /// of them, and a query for each would be slower than the endpoint.
    private var positionsToLoad: [Position] {
        var positions = missing
        guard byteCount < limits.aheadByteCountMax else { return positions }
        for head in missing {
            let nextCount = max(0, limits.loadCountMax / missing.count - 1)
            positions += queue.followers(of: head, limit: nextCount).filter { queue[$0]?.message == nil }
        }
        return positions
    }

    private var aheadCount: Int { queue.count - queue.storedCount }

    private func isToRead(after cursor: Cursor) -> Bool {
        phase == .running && !isAtEnd && (hasMore || head > cursor.position) && aheadCount < limits.aheadCountMax
            && queue.storedCount < limits.openCountMax && byteCount < limits.aheadByteCountMax
    }

    private func item(
        _ position: Position, _ event: String, _ thread: ThreadID?, atMs: Int64, _ message: WebhookMessage? = nil
    ) -> Item {
        Item(
            key: position, line: isOrdered ? .thread(thread) : .event(position), event: event, thread: thread,
            atMs: atMs, message: message)
    }
}
