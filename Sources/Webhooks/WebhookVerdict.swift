// The consequences of an endpoint's answer, or of none.
import Outbound
import Push

/// What became of one request to an endpoint.
package enum WebhookVerdict: Sendable, Equatable {
    /// 2xx.
    case delivered(status: Int)
    /// 410: the endpoint is disabled and the event stays undelivered.
    case gone
    /// Everything else, 3xx included: redirects are never followed.
    ///
    /// - Parameters:
    ///   - status: of the answer; nil without one.
    ///   - reason: a word for lists and metrics: `status`, `timeout`, `address` or `connection`.
    ///   - slows: whether the whole endpoint gets fewer requests.
    ///   - asked: the answer's `Retry-After`.
    case failed(status: Int?, reason: Reason, slows: Bool, asked: Duration?)
    /// This node did not send the request, because it stops or has too many. It does not count as a try.
    case unsent

    package enum Reason: String, Sendable, CaseIterable {
        case status, timeout, address, connection
    }

    /// Statuses with which an endpoint asks for fewer requests.
    private static let slowingStatuses: Set = [429, 502, 503, 504]

    /// Whether a failure was one of the endpoint as a whole, and not of one event, as far as the record shows it.
    static func isOutage(status: Int?, reason: String?) -> Bool {
        guard let reason else { return false }
        return reason != Reason.status.rawValue || status.map(slowingStatuses.contains) ?? false
    }

    /// - Parameter now: seconds since 1970.
    package init(_ result: Result<TransferAnswer, TransferFailure>, now: Int) {
        switch result {
        case .success(let answer):
            switch answer.status {
            case 200..<300: self = .delivered(status: answer.status)
            case 410: self = .gone
            default:
                let asked = answer.retryAfter(now: now)
                self = .failed(
                    status: answer.status, reason: .status,
                    slows: asked != nil || Self.slowingStatuses.contains(answer.status), asked: asked)
            }
        case .failure(let failure):
            switch failure {
            case .closed, .overloaded: self = .unsent
            case .timedOut: self = .failed(status: nil, reason: .timeout, slows: true, asked: nil)
            case .forbidden: self = .failed(status: nil, reason: .address, slows: true, asked: nil)
            case .refused, .failed: self = .failed(status: nil, reason: .connection, slows: true, asked: nil)
            }
        }
    }
}
