// Senders on one event loop: each sends its next message as soon as the last is answered.

/// One connection, which sends to its threads in turn.
struct Sender: Sendable {
    /// A thread, and the token of the user who sends to it.
    struct Target: Sendable {
        let token: String
        /// Its number in the run.
        let thread: Int
        let threadID: String
    }

    let pair: Int
    let targets: [Target]
}

/// The result of a loop of senders.
struct SendOutcome: Sendable {
    /// The acknowledged seqs, by the thread's number.
    var acknowledged: [Int: SeqSet] = [:]
    /// Answers within the measured time.
    var measuredCount = 0
    var faults = Faults()

    var acknowledgedCount: Int { acknowledged.values.reduce(0) { $0 + $1.count } }

    mutating func add(_ other: SendOutcome) {
        acknowledged.merge(other.acknowledged) { $1 }
        measuredCount += other.measuredCount
        faults.add(other.faults)
    }
}

final class SendLoop: ConnectionOwner {
    /// Seconds that the last answers may take.
    private static let answerMaxS = 20.0

    private let loop: EventLoop
    private let phases: Phases
    private let meter: Meter
    private let senders: [Sender]
    /// For each connection, one request for each target.
    private let requests: [[[UInt8]]]
    /// The target of each connection's next or unanswered message.
    private var turns: [Int]
    private var began: [MonotonicTime]
    private var connections: [Connection] = []
    private var busyCount = 0
    private var outcome = SendOutcome()

    /// - Parameter acknowledged: seqs that earlier rounds acknowledged, of the senders' threads.
    init(
        _ loop: EventLoop, _ endpoints: [Endpoint], _ senders: [Sender], textByteCount: Int,
        acknowledged: [Int: SeqSet], _ phases: Phases, _ meter: Meter
    ) {
        self.loop = loop
        self.phases = phases
        self.meter = meter
        self.senders = senders
        outcome.acknowledged = acknowledged
        began = senders.map { _ in phases.start }
        turns = senders.map { _ in 0 }
        let text = String(repeating: "x", count: textByteCount)
        requests = senders.enumerated().map { index, sender in
            sender.targets.map {
                sendRequest(text, to: $0.threadID, at: endpoints[index % endpoints.count], token: $0.token)
            }
        }
        connections = senders.indices.map { Connection(loop, endpoints[$0 % endpoints.count], tag: $0, owner: self) }
    }

    func run() -> SendOutcome {
        busyCount = connections.count
        loop.schedule(at: phases.end + Self.answerMaxS) { [unowned self] in
            record("no answer within \(Int(Self.answerMaxS)) s", times: busyCount)
            loop.stop()
        }
        for connection in connections { send(connection) }
        if busyCount > 0 { loop.run() }
        for connection in connections { connection.close() }
        return outcome
    }

    private func send(_ connection: Connection) {
        began[connection.tag] = .now
        connection.send(requests[connection.tag][turns[connection.tag]])
    }

    func connection(_ connection: Connection, received answer: Answer) {
        let now = MonotonicTime.now
        let isMeasured = phases.isMeasured(now)
        meter.record(nanoseconds: now - began[connection.tag], isMeasured: isMeasured)
        do {
            let message = try answer.sentMessage()
            if isMeasured {
                outcome.measuredCount += 1
                phases.countMeasured(now)
            }
            let thread = senders[connection.tag].targets[turns[connection.tag]].thread
            if !outcome.acknowledged[thread, default: SeqSet()].insert(message.seq) {
                record("seq \(message.seq) was assigned twice")
            }
        } catch {
            record("\(error)")
            return pause(connection)
        }
        next(connection, now)
    }

    func connection(_ connection: Connection, failed failure: ConnectionFailure) {
        record(failure.description)
        pause(connection)
    }

    /// A connection that fails at once must not be retried as fast as the processor can.
    private func pause(_ connection: Connection) {
        loop.schedule(at: .now + 0.05) { [unowned self] in next(connection, .now) }
    }

    private func next(_ connection: Connection, _ now: MonotonicTime) {
        turns[connection.tag] = (turns[connection.tag] + 1) % requests[connection.tag].count
        if now < phases.end { return send(connection) }
        busyCount -= 1
        if busyCount == 0 { loop.stop() }
    }

    private func record(_ fault: String, times: Int = 1) { outcome.faults.record(fault, times: times) }
}
