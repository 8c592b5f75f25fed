// What Apple's answers mean, by the reason in their bodies; where there is none, by the status.
// https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns
import Domain
import Outbound

extension APNs {
    static let answers: [PushRule] = [
        PushRule(200, .accepted, "APNs has it."),
        PushRule(
            "Unregistered", .forgetIfOlder,
            "410: the app is gone from the device. A token that was registered since is good."),
        PushRule("ExpiredToken", .forgetIfOlder, "410: as Unregistered."),
        PushRule(410, .forgetIfOlder, "As Unregistered."),
        PushRule("BadDeviceToken", .forget, "400: no token, or one of the other environment."),
        PushRule("ExpiredProviderToken", .renew, "403: older than an hour, or the node's clock is wrong."),
        PushRule("InvalidProviderToken", .halt, "403: the key, its id or the team's is wrong."),
        PushRule("MissingProviderToken", .halt, "403: whatever is in between drops the header."),
        PushRule("BadCertificate", .halt, "403: what is in between signs in otherwise."),
        PushRule("BadCertificateEnvironment", .halt, "403: as BadCertificate."),
        PushRule("Forbidden", .halt, "403: the account may not."),
        PushRule(
            "BadEnvironmentKeyIdInToken", .drop, "403: the key is for the other environment, and devices name theirs."),
        PushRule("UnrelatedKeyIdInToken", .haltUnlessNamed, "403: the key is for other topics."),
        PushRule("TopicDisallowed", .haltUnlessNamed, "400: the key's account has no such app."),
        PushRule("BadTopic", .haltUnlessNamed, "400: no bundle id."),
        PushRule("MissingTopic", .haltUnlessNamed, "400: as BadTopic."),
        PushRule(
            "DeviceTokenNotForTopic", .drop,
            "400: another app's token. Anybody can register one, so it is no reason to halt."),
        PushRule(403, .halt, "The provider may not."),
        PushRule("TooManyProviderTokenUpdates", .retry, "429: tokens were made within 20 minutes of each other."),
        PushRule("TooManyRequests", .retry, "429: too many alerts to one device."),
        PushRule(429, .retry, "Too much."),
        PushRule("IdleTimeout", .retry, "400: the connection was closed."),
        PushRule("Shutdown", .retry, "503: the server goes away."),
        PushRule("ServiceUnavailable", .retry, "503."),
        PushRule("InternalServerError", .retry, "500."),
        PushRule(500...599, .retry, "APNs is unwell."),
        PushRule("PayloadTooLarge", .drop, "413: our fault."),
        PushRule("PayloadEmpty", .drop, "400: our fault."),
        PushRule("BadCollapseId", .drop, "400: our fault."),
        PushRule("BadExpirationDate", .drop, "400: our fault."),
        PushRule("BadMessageId", .drop, "400: our fault."),
        PushRule("BadPriority", .drop, "400: our fault."),
        PushRule("InvalidPushType", .drop, "400: our fault."),
        PushRule("DuplicateHeaders", .drop, "400: our fault."),
        PushRule("MissingDeviceToken", .drop, "400: our fault."),
        PushRule("BadPath", .drop, "404: `PARLEY_APNS_URL` is wrong, or our fault."),
        PushRule("MethodNotAllowed", .drop, "405: as BadPath."),
        PushRule(otherwise: .drop, "Nothing that Apple documents."),
    ]

    /// - now: seconds since 1970.
    package func verdict(
        _ result: Result<TransferAnswer, TransferFailure>, _ alert: PushAlert, now: Int
    ) -> PushVerdict {
        let answer: TransferAnswer
        switch result {
        case .success(let success): answer = success
        case .failure(let failure): return PushVerdict(failure)
        }
        // Accepted alerts are nearly all there are, and have no body.
        let body = answer.status == 200 ? nil : try? JSONReader.read(answer.body)
        let rule = Self.answers.row(status: answer.status, reason: body?["reason"]?.string)
        let isOlder = (body?["timestamp"]?.integer).map { alert.registeredAtMs < $0 } ?? true
        return rule.verdict(
            retryAfter: answer.retryAfter(now: now), isOlder: isOlder, isTopicNamed: alert.namesTopic)
    }
}

extension PushAlert {
    fileprivate var namesTopic: Bool {
        if case .apns(_, _, .some) = target { true } else { false }
    }
}
