// What is to become of an alert, and of the device's token, after a service has answered or hasn't.
import Domain

/// The reasons are from closed sets (docs/push.md names them all): fit for a metric's label.
package enum PushVerdict: Sendable, Equatable {
    /// The service has it.
    case accepted
    /// The token is no good any more. It goes, with its jobs, if it is still what was registered at the alert's
    /// `registeredAtMs`.
    case forget(reason: String)
    /// The same alert under the same ids again, after so long; nil where the service named no time, for a back-off.
    case retry(after: Duration?, reason: String)
    /// The provider's token is refused, so a new one is needed, and the same alert again. If a token as good as new is
    /// refused, too, that is `halt`.
    case renew(reason: String)
    /// Nothing that this platform is sent will be taken before an operator has done something. The alert stays.
    case halt(reason: String)
    /// The service takes everything but this: our own fault, or the device's.
    case drop(reason: String)

    /// What APNs says of one device, to be tried again: whoever has such a device doesn't make the others wait.
    static let reasonsOfOneDevice: Set = ["Unregistered", "ExpiredToken", "410", "TooManyRequests"]

    /// Whether the service works, whatever it says of this alert.
    package var showsLife: Bool {
        switch self {
        case .retry(_, let reason): Self.reasonsOfOneDevice.contains(reason)
        case .accepted, .forget, .renew, .halt, .drop: true
        }
    }
}

/// Why no request can be made of an alert.
package enum Unsendable: String, Error {
    /// It is another service's.
    case platform
    /// The device named none, and none is configured.
    case topic
    /// What is registered is no address of a server.
    case endpoint
    /// What is registered is no point on P-256, or no secret.
    case keys
    /// What libcrypto says, as when the system gives no random bytes.
    case encryption

    package var verdict: PushVerdict {
        switch self {
        case .platform, .topic: .drop(reason: rawValue)
        // It won't be any better the next time.
        case .endpoint, .keys: .forget(reason: rawValue)
        case .encryption: .retry(after: nil, reason: rawValue)
        }
    }
}

/// What shows a service who we are, for as long as it is good. All nodes share one.
package struct ProviderToken: Sendable, Equatable {
    package var text: String
    /// From when on another is to be made, in seconds since 1970. The service still takes this one for some minutes.
    package var renewAt: Int

    package init(text: String, renewAt: Int) {
        self.text = text
        self.renewAt = renewAt
    }
}

/// Why an operator's file or setting is no good, as the rest of a sentence about it.
package struct PushKeyUnreadable: Error, Equatable, CustomStringConvertible {
    package let description: String
}
