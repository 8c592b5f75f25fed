// The meaning of FCM's answers: by the error code in the details, or without one by Google's status, then by HTTP's.
// https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode
import Domain
import Outbound

extension FCM {
    /// `INVALID_ARGUMENT` with a detail that names the token.
    private static let badToken = "INVALID_ARGUMENT (token)"

    static let answers: [PushRule] = [
        PushRule(200, .accepted, "FCM has accepted the alert."),
        PushRule("UNREGISTERED", .forget, "404: the app was removed from the device, or has another token."),
        PushRule("SENDER_ID_MISMATCH", .forget, "403: another project's token."),
        PushRule(badToken, .forget, "400: not a token."),
        PushRule("UNAUTHENTICATED", .renew, "401: the OAuth token has expired or was revoked."),
        PushRule(
            "THIRD_PARTY_AUTH_ERROR", .drop,
            "401: the device is Apple's or a browser, and the project lacks the key for it. Other devices are not affected."
        ),
        PushRule(401, .renew, "As UNAUTHENTICATED."),
        PushRule("PERMISSION_DENIED", .halt, "403: the account may not send, or the project's API is disabled."),
        PushRule(403, .halt, "As PERMISSION_DENIED."),
        PushRule("QUOTA_EXCEEDED", .retry, "429: too many requests, in all or to one device."),
        PushRule("RESOURCE_EXHAUSTED", .retry, "429: as QUOTA_EXCEEDED."),
        PushRule(429, .retry, "As QUOTA_EXCEEDED."),
        PushRule("UNAVAILABLE", .retry, "503."),
        PushRule("INTERNAL", .retry, "500."),
        PushRule(500...599, .retry, "FCM has a fault."),
        PushRule("INVALID_ARGUMENT", .drop, "400: a fault of Parley."),
        PushRule("NOT_FOUND", .drop, "404 without a word about the token: the project or `PARLEY_FCM_URL` is wrong."),
        PushRule(otherwise: .drop, "Not documented by Google."),
    ]

    /// - Parameter now: seconds since 1970.
    package func verdict(
        _ result: Result<TransferAnswer, TransferFailure>, _ alert: PushAlert, now: Int
    ) -> PushVerdict {
        Self.answers.verdict(result, now: now) { answer in
            AnswerFacts(reason: answer.status == 200 ? nil : Self.reason(answer.body))
        }
    }

    private static func reason(_ body: [UInt8]) -> String? {
        guard let error = (try? JSONReader.read(body))?["error"] else { return nil }
        let details = error["details"]?.array ?? []
        let code = details.lazy.compactMap { $0["errorCode"]?.string }.first ?? error["status"]?.string
        guard code == "INVALID_ARGUMENT" else { return code }
        // The answer has one of two forms: it names the field, or has only a sentence.
        let fields = details.flatMap { $0["fieldViolations"]?.array ?? [] }.compactMap { $0["field"]?.string }
        let isToken =
            fields.isEmpty
            ? error["message"]?.string?.contains("registration token") == true : fields.contains("message.token")
        return isToken ? badToken : code
    }
}
