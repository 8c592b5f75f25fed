// What push services' answers mean. They agree on no reasons, so by the status alone (RFC 8030, RFC 8292). Who answers
// is whom a client named: nothing that is said here may stop the others' alerts.
import Domain
import Outbound

extension WebPush {
    static let answers: [PushRule] = [
        PushRule(200...299, .accepted, "The service has it (201, as RFC 8030 has it, or 200, 202, 204)."),
        PushRule(404, .forget, "The subscription is over."),
        PushRule(410, .forget, "The subscription is over."),
        PushRule(408, .retry, "The request came too slowly."),
        PushRule(425, .retry, "Too early."),
        PushRule(429, .retry, "Too much."),
        PushRule(500...599, .retry, "The service is unwell."),
        PushRule(300...399, .drop, "Redirects are not followed."),
        PushRule(400, .drop, "Our fault."),
        PushRule(
            401, .drop, "The signature isn't taken: the subscription is for another key, or a clock is wrong."),
        PushRule(403, .drop, "As 401."),
        PushRule(413, .drop, "Our fault: 4,096 bytes must be taken."),
        PushRule(otherwise: .drop, "Nothing that RFC 8030 speaks of."),
    ]

    /// - now: seconds since 1970.
    package func verdict(
        _ result: Result<TransferAnswer, TransferFailure>, _ alert: PushAlert, now: Int
    ) -> PushVerdict {
        switch result {
        case .success(let answer):
            Self.answers.row(status: answer.status, reason: nil).verdict(retryAfter: answer.retryAfter(now: now))
        case .failure(let failure): PushVerdict(failure)
        }
    }
}
