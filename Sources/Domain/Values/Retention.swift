// How long the content of messages is stored.

/// A thread's rule for messages sent while the rule holds. A message whose content expired keeps its place.
package enum Retention: Hashable, Sendable {
    case forever
    case seconds(KeptTime)
    /// Until every device of everyone in the thread has the content.
    case untilDelivered

    /// The value in the database: nil for no end, 0 until delivered, otherwise seconds.
    package var keepS: Int32? {
        switch self {
        case .forever: nil
        case .seconds(let time): time.seconds
        case .untilDelivered: 0
        }
    }
}

extension Retention {
    /// The retention of a thread that is made without one.
    package static func standard(_ limits: Limits) -> Retention {
        let seconds = limits.retentionDefaultS > 0 ? limits.retentionDefaultS : limits.retentionMaxS
        return seconds > 0 ? .seconds(KeptTime(seconds: Int32(seconds))) : .forever
    }

    /// Reads a retention that is not longer than the service allows.
    package init(_ json: JSONValue, limits: Limits) throws(Invalid) {
        self = try Retention(json)
        let most = limits.retentionMaxS
        guard most > 0 else { return }
        switch self {
        case .forever: throw Invalid(fields: [.init("keep", "This service keeps messages for at most \(most) s.")])
        case .seconds(let time) where time.seconds > most:
            throw Invalid(fields: [.init("seconds", "Must be at most \(most): this service keeps messages no longer.")])
        case .seconds, .untilDelivered: break
        }
    }
}

/// How long content is stored: 1 s to ten years.
package struct KeptTime: Hashable, Sendable {
    package static let secondsMax: Int64 = 10 * 365 * 86_400

    package let seconds: Int32
}

extension KeptTime: JSONField {
    package init(_ json: JSONValue) throws(Invalid) {
        guard let seconds = json.integer, (1...Self.secondsMax).contains(seconds) else {
            throw Invalid("Must be a whole number of seconds from 1 to \(Self.secondsMax).")
        }
        self.seconds = Int32(seconds)
    }
}

extension Retention: JSONField {
    private enum Keep: String, WordField { case forever, seconds, untilDelivered = "until_delivered" }

    package init(_ json: JSONValue) throws(Invalid) {
        var fields = try Fields(json)
        let keep = fields.required("keep", Keep.self)
        let seconds = fields.optional("seconds", KeptTime.self)
        switch keep {
        case .seconds:
            if seconds == nil, !fields.isRefused("seconds") { fields.refuse("seconds", "Is required.") }
        case .forever, .untilDelivered:
            if fields.has("seconds") { fields.refuse("seconds", "Must be left out unless `keep` is `seconds`.") }
        case nil: break
        }
        switch try fields.values(keep) {
        case .forever: self = .forever
        case .untilDelivered: self = .untilDelivered
        case .seconds:
            guard let seconds else { throw Invalid("Is required.") }
            self = .seconds(seconds)
        }
    }
}
