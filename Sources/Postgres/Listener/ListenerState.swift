// The listener's decisions: when to connect, probe and give up. No I/O and no clock; `ListenerLoop` acts.
import Basics
import Linux

/// The life of a listening connection. `next` returns what to do now; the other methods report what happened.
struct ListenerState: Sendable {
    struct Timing: Sendable {
        var heartbeatInterval: Duration = .seconds(10)
        var answerMax: Duration = .seconds(5)
    }

    enum Action: Equatable {
        case connect
        /// LISTEN on both channels, then `listening`.
        case listen
        /// Send this to the probe channel.
        case probe(String)
        /// Read what arrives until this time.
        case wait(until: Instant)
        case emit(PostgresListener.Event)
        /// Drop the connection, if any, for this reason.
        case close(reason: String)
    }

    private enum Phase: Equatable {
        case away(until: Instant)
        case connecting
        case listening
        case probing(token: String, isSent: Bool, deadline: Instant)
        case live(heartbeatAt: Instant)
    }

    private let timing: Timing
    private var phase: Phase
    private var pending: [Action] = []
    private var isLive = false
    private var probeCount = 0
    private var backoff = Backoff()

    init(timing: Timing = Timing(), now: Instant) {
        self.timing = timing
        phase = .away(until: now)
    }

    /// Returns what to do now. Each action except `wait` is returned once.
    /// - Parameter random: from 0 up to 1, for the wait before the next attempt if this one is over.
    mutating func next(now: Instant, random: Double) -> Action {
        guard pending.isEmpty else { return pending.removeFirst() }
        switch phase {
        case .away(let until):
            guard now >= until else { return .wait(until: until) }
            phase = .connecting
            return .connect
        case .connecting, .listening:
            phase = .listening
            return .listen
        case .probing(let token, false, let deadline):
            phase = .probing(token: token, isSent: true, deadline: deadline)
            return .probe(token)
        case .probing(_, true, let deadline):
            guard now >= deadline else { return .wait(until: deadline) }
            lost(isLive ? Self.silent : Self.swallowed, now: now, random: random)
            return next(now: now, random: random)
        case .live(let heartbeatAt):
            guard now >= heartbeatAt else { return .wait(until: heartbeatAt) }
            probe(now)
            return next(now: now, random: random)
        }
    }

    /// LISTEN succeeded. Only a probe shows whether notifications arrive.
    mutating func listening(now: Instant) { probe(now) }

    /// Whether this is the current probe, and not one of an earlier attempt.
    func awaits(_ token: String) -> Bool {
        if case .probing(token, _, _) = phase { true } else { false }
    }

    /// A probe arrived.
    mutating func answered(_ token: String, now: Instant) {
        guard awaits(token) else { return }
        phase = .live(heartbeatAt: now + timing.heartbeatInterval)
        backoff.reset()
        guard !isLive else { return }
        isLive = true
        pending.append(.emit(.connected))
    }

    /// A notification arrived. Returns false before `connected`: its event is read then in any case.
    func isWanted() -> Bool { isLive }

    /// The attempt failed, or the connection broke.
    mutating func lost(_ reason: String, now: Instant, random: Double) {
        phase = .away(until: now + backoff.next(random: random))
        pending = [.close(reason: reason)]
        if isLive { pending.append(.emit(.disconnected(reason: reason))) }
        isLive = false
    }

    private mutating func probe(_ now: Instant) {
        probeCount += 1
        phase = .probing(token: "\(probeCount)", isSent: false, deadline: now + timing.answerMax)
    }

    static let silent = "no answer to the heartbeat"
    static let swallowed = """
        notifications do not arrive: a transaction pooler swallows LISTEN. PARLEY_LISTEN_URL must lead directly to \
        PostgreSQL
        """
}
