// How fast a node sends: what may be under way at once, when a service is left in peace, how long an alert waits for
// its next try. Decisions only; clocks and chance are given.
import Basics
import Domain

/// A bounded number of alerts under way, and a bounded number to each service. One that fails again and again is
/// asked less and less, by one alert at a time, until it takes one; the others don't wait for it.
package struct PushPace: Sendable {
    package typealias Instant = ContinuousClock.Instant

    package enum Admission: Equatable, Sendable {
        case go
        /// Not before so long.
        case wait(Duration)
    }

    private struct Origin {
        var inFlightCount = 0
        /// One after the other, without a success between them.
        var failureCount = 0
        var pausedUntil: Instant?
    }

    /// Failures in a row by which a service counts as away. Fewer may be bad luck.
    private static let failureCountOfPause = 8
    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(60)
    /// For one that has as many under way as it may.
    private static let turnWait = Duration.seconds(1)
    private static let haltLength = Duration.seconds(60)
    /// Who registers addresses by the thousand gets no more memory than this.
    private static let originCountMax = 10_000

    private let inFlightMax: Int
    private let originInFlightMax: Int
    private var origins: [String: Origin] = [:]
    package private(set) var inFlightCount = 0
    private var haltedUntil: Instant?

    /// - originInFlightMax: of one service, by its origin.
    package init(inFlightMax: Int, originInFlightMax: Int) {
        self.inFlightMax = inFlightMax
        self.originInFlightMax = originInFlightMax
    }

    /// How many may be begun now. After a halt it is one, which shows whether there is still a reason.
    package func room(now: Instant) -> Int {
        guard let haltedUntil else { return inFlightMax - inFlightCount }
        return now < haltedUntil || inFlightCount > 0 ? 0 : 1
    }

    /// Nothing is sent until an operator has done something; which is tried now and then.
    package var isHalted: Bool { haltedUntil != nil }

    package mutating func halt(now: Instant) { haltedUntil = now + Self.haltLength }

    /// The service takes what we send.
    package mutating func resume() { haltedUntil = nil }

    /// Whether an alert to this service may go. If so, it counts as under way.
    package mutating func admit(_ name: String, now: Instant) -> Admission {
        var origin = origins[name] ?? Origin()
        if let until = origin.pausedUntil {
            if now < until { return .wait(until - now) }
            // One shows whether the service is back.
            if origin.inFlightCount > 0 { return .wait(Self.turnWait) }
        }
        guard origin.inFlightCount < originInFlightMax, inFlightCount < inFlightMax else { return .wait(Self.turnWait) }
        if origins.count >= Self.originCountMax, origins[name] == nil { forgetSome(now: now) }
        origin.inFlightCount += 1
        inFlightCount += 1
        origins[name] = origin
        return .go
    }

    /// One that was admitted has ended.
    /// - isAlive: whether the service has shown that it works, whatever it said of the alert.
    package mutating func ended(_ name: String, isAlive: Bool, now: Instant) {
        inFlightCount -= 1
        guard var origin = origins[name] else { return }
        origin.inFlightCount -= 1
        if isAlive {
            origin.failureCount = 0
            origin.pausedUntil = nil
        } else {
            origin.failureCount += 1
            let excess = origin.failureCount - Self.failureCountOfPause
            // What was under way together fails together: that is one failure of the service's.
            if excess >= 0, origin.pausedUntil.map({ $0 <= now }) ?? true {
                origin.pausedUntil =
                    now + Backoff.delay(first: Self.firstPause, cap: Self.longestPause, doublings: excess)
            }
        }
        origins[name] = origin.inFlightCount == 0 && origin.failureCount == 0 ? nil : origin
    }

    private mutating func forgetSome(now: Instant) {
        origins = origins.filter { $0.value.inFlightCount > 0 || ($0.value.pausedUntil.map { now < $0 } ?? false) }
    }
}

/// When an alert is tried again.
package enum PushBackoff {
    private static let first = Duration.seconds(1)
    private static let cap = Duration.seconds(300)

    /// Doubles with each attempt up to the cap, and is never shorter than the service asked for; then as much again by
    /// chance at most, so that alerts that failed together don't come back together.
    /// - random: from 0 to 1.
    package static func wait(afterAttempt attempt: Int, asked: Duration?, random: Double) -> Duration {
        let base = Backoff.delay(first: first, cap: cap, doublings: attempt - 1)
        return max(base, asked ?? .zero) + base * random
    }
}
