// The meaning of APNs' answers: by the reason in the body, or without one by the status.
// https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns
import Domain
import Outbound

extension APNs {
    static let answers: [PushRule] = [
        PushRule(200, .accepted, "APNs has accepted the alert."),
        PushRule(
            "Unregistered", .forgetIfOlder,
            "410: the app was removed from the device. A token registered later is valid."),
        PushRule("ExpiredToken", .forgetIfOlder, "410: as Unregistered."),
        PushRule(410, .forgetIfOlder, "As Unregistered."),
        PushRule("BadDeviceToken", .forget, "400: not a token, or a token of the other environment."),
        PushRule("ExpiredProviderToken", .renew, "403: the token is older than an hour, or the node's clock is wrong."),
        PushRule("InvalidProviderToken", .halt, "403: the key, the key id or the team id is wrong."),
        PushRule("MissingProviderToken", .halt, "403: a proxy removes the header."),
        PushRule("BadCertificate", .halt, "403: a proxy authenticates with a certificate."),
        PushRule("BadCertificateEnvironment", .halt, "403: as BadCertificate."),
        PushRule("Forbidden", .halt, "403: the account may not send."),
        PushRule(
            "BadEnvironmentKeyIdInToken", .drop,
            "403: the key is for the other environment. Devices name their environment."),
        PushRule("UnrelatedKeyIdInToken", .haltUnlessNamed, "403: the key is for other topics."),
        PushRule("TopicDisallowed", .haltUnlessNamed, "400: the key's account has no such app."),
        PushRule("BadTopic", .haltUnlessNamed, "400: not a bundle id."),
        PushRule("MissingTopic", .haltUnlessNamed, "400: as BadTopic."),
        PushRule(
            "DeviceTokenNotForTopic", .drop,
            "400: another app's token. Any client can register one, so it is no reason to halt."),
        PushRule(403, .halt, "The account may not send."),
        PushRule("TooManyProviderTokenUpdates", .retry, "429: two tokens were made within 20 minutes."),
        PushRule("TooManyRequests", .retry, "429: too many alerts to one device."),
        PushRule(429, .retry, "Too many requests."),
        PushRule("IdleTimeout", .retry, "400: the connection was closed."),
        PushRule("Shutdown", .retry, "503: the server is shutting down."),
        PushRule("ServiceUnavailable", .retry, "503."),
        PushRule("InternalServerError", .retry, "500."),
        PushRule(500...599, .retry, "APNs has a fault."),
        PushRule("PayloadTooLarge", .drop, "413: a fault of Parley."),
        PushRule("PayloadEmpty", .drop, "400: a fault of Parley."),
        PushRule("BadCollapseId", .drop, "400: a fault of Parley."),
        PushRule("BadExpirationDate", .drop, "400: a fault of Parley."),
        PushRule("BadMessageId", .drop, "400: a fault of Parley."),
        PushRule("BadPriority", .drop, "400: a fault of Parley."),
        PushRule("InvalidPushType", .drop, "400: a fault of Parley."),
        PushRule("DuplicateHeaders", .drop, "400: a fault of Parley."),
        PushRule("MissingDeviceToken", .drop, "400: a fault of Parley."),
        PushRule("BadPath", .drop, "404: `PARLEY_APNS_URL` is wrong, or a fault of Parley."),
        PushRule("MethodNotAllowed", .drop, "405: as BadPath."),
        PushRule(otherwise: .drop, "Not documented by Apple."),
    ]

    /// - Parameter now: seconds since 1970.
    package func verdict(
        _ result: Result<TransferAnswer, TransferFailure>, _ alert: PushAlert, now: Int
    ) -> PushVerdict {
        Self.answers.verdict(result, now: now) { answer in
            // Nearly all alerts are accepted, and those answers have no body.
            let body = answer.status == 200 ? nil : try? JSONReader.read(answer.body)
            return AnswerFacts(
                reason: body?["reason"]?.string,
                isOlder: (body?["timestamp"]?.integer).map { alert.registeredAtMs < $0 } ?? true,
                isTopicNamed: alert.namesTopic)
        }
    }
}

extension PushAlert {
    fileprivate var namesTopic: Bool {
        if case .apns(_, _, .some) = target { true } else { false }
    }
}
