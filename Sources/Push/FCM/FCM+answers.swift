// What FCM's answers mean, by the error code in their details; where there is none, by Google's status, then by HTTP's.
// https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode
import Domain
import Outbound

extension FCM {
    /// `INVALID_ARGUMENT`, and it says that the token is what is invalid.
    private static let badToken = "INVALID_ARGUMENT (token)"

    static let answers: [PushRule] = [
        PushRule(200, .accepted, "FCM has it."),
        PushRule("UNREGISTERED", .forget, "404: the app is gone from the device, or got another token."),
        PushRule("SENDER_ID_MISMATCH", .forget, "403: another project's token."),
        PushRule(badToken, .forget, "400: no token."),
        PushRule("UNAUTHENTICATED", .renew, "401: the OAuth token is stale or was taken back."),
        PushRule(
            "THIRD_PARTY_AUTH_ERROR", .drop,
            "401: of an app on Apple's devices or in a browser, for which the project lacks a key. Others are well."),
        PushRule(401, .renew, "As UNAUTHENTICATED."),
        PushRule("PERMISSION_DENIED", .halt, "403: the account may not send, or the project's API is off."),
        PushRule(403, .halt, "As PERMISSION_DENIED."),
        PushRule("QUOTA_EXCEEDED", .retry, "429: too much, in all or to one device."),
        PushRule("RESOURCE_EXHAUSTED", .retry, "429: as QUOTA_EXCEEDED."),
        PushRule(429, .retry, "As QUOTA_EXCEEDED."),
        PushRule("UNAVAILABLE", .retry, "503."),
        PushRule("INTERNAL", .retry, "500."),
        PushRule(500...599, .retry, "FCM is unwell."),
        PushRule("INVALID_ARGUMENT", .drop, "400: our fault."),
        PushRule("NOT_FOUND", .drop, "404 that doesn't speak of the token: the project or `PARLEY_FCM_URL` is wrong."),
        PushRule(otherwise: .drop, "Nothing that Google documents."),
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
        let reason = answer.status == 200 ? nil : Self.reason(answer.body)
        return Self.answers.row(status: answer.status, reason: reason).verdict(
            retryAfter: answer.retryAfter(now: now))
    }

    private static func reason(_ body: [UInt8]) -> String? {
        guard let error = (try? JSONReader.read(body))?["error"] else { return nil }
        let details = error["details"]?.array ?? []
        let code = details.lazy.compactMap { $0["errorCode"]?.string }.first ?? error["status"]?.string
        guard code == "INVALID_ARGUMENT" else { return code }
        // Two forms: the field that is wrong, or only a sentence.
        let fields = details.flatMap { $0["fieldViolations"]?.array ?? [] }.compactMap { $0["field"]?.string }
        let isToken =
            fields.isEmpty
            ? error["message"]?.string?.contains("registration token") == true : fields.contains("message.token")
        return isToken ? badToken : code
    }
}
