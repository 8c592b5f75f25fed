// When the operator's policy is asked although it fails. Decisions only: time and chance are parameters.
import Basics

/// Stops asking a policy that fails again and again, so that messages do not wait for it.
///
/// After some failures in a row no question is asked for a pause. Then one question finds out whether the policy is back:
/// its success ends the pauses, its failure begins a longer one.
package struct PolicyBreaker: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// Allows one question. Its outcome counts only while the breaker is in the state that it was asked in.
    package struct Permit: Sendable, Equatable { fileprivate let period: Int }

    package enum Admission: Sendable, Equatable {
        case ask(Permit)
        /// Do not ask for this time.
        case pause(Duration)
    }

    private enum State { case closed(failureCount: Int), open(until: Instant), probing }

    /// Failures in a row that begin a pause.
    package static let failureCountMax = 5
    /// What the others are told while one question finds out whether the policy is back.
    private static let probeWait = Duration.seconds(1)

    private var state = State.closed(failureCount: 0)
    /// The pause: at first up to 1 s, doubled after each failed question, up to 30 s.
    private var pauses = Backoff(first: .seconds(1), cap: .seconds(30))
    private var period = 0

    package init() {}

    /// Whether questions are not asked.
    package var isOpen: Bool { if case .closed = state { false } else { true } }

    package mutating func admit(now: Instant) -> Admission {
        switch state {
        case .closed: break
        case .open(let until) where until > now: return .pause(until - now)
        case .open: enter(.probing)
        case .probing: return .pause(Self.probeWait)
        }
        return .ask(Permit(period: period))
    }

    package mutating func succeeded(_ permit: Permit) {
        guard permit.period == period else { return }
        if case .probing = state { enter(.closed(failureCount: 0)) } else { state = .closed(failureCount: 0) }
        pauses.reset()
    }

    /// Returns the pause that begins; nil if none does.
    /// - Parameter random: from 0 up to 1.
    package mutating func failed(_ permit: Permit, now: Instant, random: Double) -> Duration? {
        guard permit.period == period else { return nil }
        if case .closed(let count) = state, count + 1 < Self.failureCountMax {
            state = .closed(failureCount: count + 1)
            return nil
        }
        let pause = pauses.next(random: random)
        enter(.open(until: now + pause))
        return pause
    }

    private mutating func enter(_ state: State) {
        self.state = state
        period += 1
    }
}
