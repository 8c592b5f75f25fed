// How fast a node sends to each push service, and how long an alert waits for its next try. Decisions only; time and
// chance are parameters.
import Basics

/// Bounds the alerts under way to each service. A service that fails repeatedly gets longer and longer pauses, with one
/// alert between them, until it accepts one. Other services don't wait for it.
package struct PushPace: Sendable {
    package typealias Instant = Pace.Instant

    package enum Admission: Equatable, Sendable {
        case go
        /// The alert must wait for this time.
        case wait(Duration)
    }

    private struct Origin {
        var inFlightCount = 0
        var pace: Pace
    }

    /// Failures in a row after which a service counts as down. Fewer may be chance.
    private static let failureCountOfPause = 8
    /// For a service that has as many alerts under way as allowed.
    private static let slotWait = Duration.seconds(1)
    /// Bounds the memory that a client can take by registering thousands of addresses.
    private static let originCountMax = 10_000

    private let rules: Pace.Rules
    private var origins: [String: Origin] = [:]

    /// - Parameter originInFlightMax: the most alerts under way to one origin.
    package init(originInFlightMax: Int) {
        var rules = Pace.Rules()
        rules.windowMax = originInFlightMax
        rules.failureCountMin = Self.failureCountOfPause
        self.rules = rules
    }

    /// Returns whether an alert to this origin may be sent. If so, it counts as under way.
    package mutating func admit(_ name: String, now: Instant) -> Admission {
        var origin = origins[name] ?? Origin(pace: Pace(rules))
        if let pause = origin.pace.pause(now: now) { return .wait(pause) }
        guard origin.pace.room(inFlightCount: origin.inFlightCount, now: now) > 0 else { return .wait(Self.slotWait) }
        if origins.count >= Self.originCountMax, origins[name] == nil { forgetSome(now: now) }
        origin.inFlightCount += 1
        origins[name] = origin
        return .go
    }

    /// Records the end of an alert that was admitted.
    ///
    /// - Parameter isAlive: whether the service has shown that it works, whatever it answered.
    package mutating func ended(_ name: String, isAlive: Bool, now: Instant) {
        guard var origin = origins[name] else { return }
        origin.inFlightCount -= 1
        if isAlive { origin.pace.accepted(now: now) } else { origin.pace.failed(now: now) }
        origins[name] = origin.inFlightCount == 0 && !origin.pace.isFailing ? nil : origin
    }

    private mutating func forgetSome(now: Instant) {
        origins = origins.filter { $0.value.inFlightCount > 0 || $0.value.pace.pause(now: now) != nil }
    }
}

extension Retries {
    /// When an alert is sent again.
    package static let alerts = Retries(first: .seconds(1), cap: .seconds(300))
}

extension Pace.Rules {
    /// All alerts of one push service. While the service refuses the keys or the settings, nothing is sent until an
    /// operator corrects something; one alert a minute checks that.
    package static func alerts(inFlightMax: Int) -> Self {
        var rules = Self()
        rules.windowMax = inFlightMax
        rules.firstPause = .seconds(60)
        return rules
    }
}
