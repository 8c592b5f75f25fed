// How fast a node sends: how many alerts may be under way at once, when a service gets a pause, how long an alert waits
// for its next try. Decisions only; time and chance are parameters.
import Basics
import Domain

/// Bounds the alerts under way, in all and to each service. A service that fails repeatedly gets longer and longer
/// pauses, with one alert between them, until it accepts one. Other services don't wait for it.
package struct PushPace: Sendable {
    package typealias Instant = ContinuousClock.Instant

    package enum Admission: Equatable, Sendable {
        case go
        /// Not before this time has passed.
        case wait(Duration)
    }

    private struct Origin {
        var inFlightCount = 0
        /// Failures in a row.
        var failureCount = 0
        var pausedUntil: Instant?
    }

    /// Failures in a row after which a service counts as down. Fewer may be chance.
    private static let failureCountOfPause = 8
    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(60)
    /// For a service that has as many alerts under way as allowed.
    private static let slotWait = Duration.seconds(1)
    private static let haltLength = Duration.seconds(60)
    /// Bounds the memory that a client can take by registering thousands of addresses.
    private static let originCountMax = 10_000

    private let inFlightMax: Int
    private let originInFlightMax: Int
    private var origins: [String: Origin] = [:]
    package private(set) var inFlightCount = 0
    private var haltedUntil: Instant?

    /// - Parameter originInFlightMax: the most alerts under way to one origin.
    package init(inFlightMax: Int, originInFlightMax: Int) {
        self.inFlightMax = inFlightMax
        self.originInFlightMax = originInFlightMax
    }

    /// Returns how many alerts may begin now. After a halt that is one alert, which shows whether the reason persists.
    package func room(now: Instant) -> Int {
        guard let haltedUntil else { return inFlightMax - inFlightCount }
        return now < haltedUntil || inFlightCount > 0 ? 0 : 1
    }

    /// Whether sending waits until an operator corrects something. One alert a minute checks that.
    package var isHalted: Bool { haltedUntil != nil }

    package mutating func halt(now: Instant) { haltedUntil = now + Self.haltLength }

    /// Ends a halt: the service has accepted an alert.
    package mutating func resume() { haltedUntil = nil }

    /// Returns whether an alert to this origin may be sent. If so, it counts as under way.
    package mutating func admit(_ name: String, now: Instant) -> Admission {
        var origin = origins[name] ?? Origin()
        if let until = origin.pausedUntil {
            if now < until { return .wait(until - now) }
            // One alert shows whether the service is back.
            if origin.inFlightCount > 0 { return .wait(Self.slotWait) }
        }
        guard origin.inFlightCount < originInFlightMax, inFlightCount < inFlightMax else { return .wait(Self.slotWait) }
        if origins.count >= Self.originCountMax, origins[name] == nil { forgetSome(now: now) }
        origin.inFlightCount += 1
        inFlightCount += 1
        origins[name] = origin
        return .go
    }

    /// Records the end of an alert that was admitted.
    ///
    /// - Parameter isAlive: whether the service has shown that it works, whatever it answered.
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
            // Alerts that were under way together fail together. They count as one failure of the service.
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

/// When an alert is retried.
package enum PushBackoff {
    private static let first = Duration.seconds(1)
    private static let cap = Duration.seconds(300)

    /// Doubles with each attempt up to the cap, and is never shorter than the service asked for. Up to the same time is
    /// added by chance, so that alerts that failed together are not retried together.
    ///
    /// - Parameter random: from 0 to 1.
    package static func wait(afterAttempt attempt: Int, asked: Duration?, random: Double) -> Duration {
        let base = Backoff.delay(first: first, cap: cap, doublings: attempt - 1)
        return max(base, asked ?? .zero) + base * random
    }
}
