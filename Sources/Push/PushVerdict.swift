// The consequences of a push service's answer, or of none, for the alert and for the device's token.
import Domain

/// The reasons are from closed sets, so a metric may have them as labels. docs/push.md lists them all.
package enum PushVerdict: Sendable, Equatable {
    /// The service has accepted the alert.
    case accepted
    /// The token is no longer valid. It is deleted with its alerts, if it is still the one that was registered at the
    /// alert's `registeredAtMs`.
    case forget(reason: String)
    /// Send the same alert with the same ids again after this time, or after a back-off where the service named no
    /// time.
    case retry(after: Duration?, reason: String)
    /// The provider token is refused: renew it and send the same alert again. If a new token is refused, too, halt.
    case renew(reason: String)
    /// The service accepts no alert until an operator corrects something. The alert is kept.
    case halt(reason: String)
    /// The service refuses only this alert. The fault is Parley's or the device's.
    case drop(reason: String)

    /// Reasons of APNs for a retry that concern one device only. They must not pause the alerts of other devices.
    static let reasonsOfOneDevice: Set = ["Unregistered", "ExpiredToken", "410", "TooManyRequests"]

    /// Whether the service works, whatever it answered to this alert.
    package var showsLife: Bool {
        switch self {
        case .retry(_, let reason): Self.reasonsOfOneDevice.contains(reason)
        case .accepted, .forget, .renew, .halt, .drop: true
        }
    }
}

/// Why an alert can't be made into a request.
package enum Unsendable: String, Error {
    /// The alert is for another service.
    case platform
    /// The device named no topic, and none is configured.
    case topic
    /// The registered endpoint is not the address of a server.
    case endpoint
    /// The registered keys are not a point on P-256 and a secret.
    case keys
    /// libcrypto failed, for example because the system returns no random bytes.
    case encryption

    package var verdict: PushVerdict {
        switch self {
        case .platform, .topic: .drop(reason: rawValue)
        // The next try would fail, too.
        case .endpoint, .keys: .forget(reason: rawValue)
        case .encryption: .retry(after: nil, reason: rawValue)
        }
    }
}

/// Authenticates Parley to a push service until it expires. All nodes share one.
package struct ProviderToken: Sendable, Equatable {
    package var text: String
    /// When the token is to be renewed, in seconds since 1970. The service still accepts it for some minutes.
    package var renewAt: Int

    package init(text: String, renewAt: Int) {
        self.text = text
        self.renewAt = renewAt
    }
}

/// Why an operator's file or setting can't be used, as the rest of a sentence about it.
package struct PushKeyUnreadable: Error, Equatable, CustomStringConvertible {
    package let description: String
}
