// The meaning of Web Push services' answers: by the status alone, because services don't agree on reasons (RFC 8030,
// RFC 8292). A client named the service, so no answer may stop other clients' alerts.
import Domain
import Outbound

extension WebPush {
    static let answers: [PushRule] = [
        PushRule(200...299, .accepted, "The service has accepted the alert (201 in RFC 8030; also 200, 202, 204)."),
        PushRule(404, .forget, "The subscription has ended."),
        PushRule(410, .forget, "The subscription has ended."),
        PushRule(408, .retry, "The request was too slow."),
        PushRule(425, .retry, "Too early."),
        PushRule(429, .retry, "Too many requests."),
        PushRule(500...599, .retry, "The service has a fault."),
        PushRule(300...399, .drop, "Redirects are not followed."),
        PushRule(400, .drop, "A fault of Parley."),
        PushRule(
            401, .drop, "The signature is refused: the subscription is for another key, or a clock is wrong."),
        PushRule(403, .drop, "As 401."),
        PushRule(413, .drop, "A fault of Parley: services must accept 4,096 bytes."),
        PushRule(otherwise: .drop, "Not mentioned in RFC 8030."),
    ]

    /// - Parameter now: seconds since 1970.
    package func verdict(
        _ result: Result<TransferAnswer, TransferFailure>, _ alert: PushAlert, now: Int
    ) -> PushVerdict {
        Self.answers.verdict(result, now: now) { _ in AnswerFacts() }
    }
}
