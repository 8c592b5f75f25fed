// Counts the posts to incoming hooks.
import Domain
import HTTPTypes
import Telemetry

/// The metrics of this node's hooks. From any thread.
package final class HookMetrics: Metrics {
    /// How a post ended.
    package enum Outcome: String, CaseIterable, Sendable {
        case posted
        /// The message was stored before, under the same `Idempotency-Key`.
        case repeated
        /// The message waits for a moderator's review.
        case review
        /// No hook has the token.
        case unknown
        /// The hook posts too often.
        case limited
        /// Any other answer with a 4xx status.
        case refused
        /// The node or its database failed.
        case failed

        /// - Parameter status: of an answer that is no problem.
        init(_ status: HTTPResponse.Status) {
            switch status {
            case .created: self = .posted
            case .accepted: self = .review
            default: self = .repeated
            }
        }

        init(_ error: any Error) {
            switch Failure(error).problem.code {
            case .hookNotFound: self = .unknown
            case .rateLimited: self = .limited
            case .overloaded, .unavailable, .internalError: self = .failed
            default: self = .refused
            }
        }
    }

    package let posts = LabelledCounters<Outcome>(
        "parley_hook_posts_total",
        "Posts to incoming hooks, by `outcome`: posted, repeated (same `Idempotency-Key`), review (the policy sent the post "
            + "to a moderator), unknown (no such hook), limited, refused, failed.",
        by: "outcome")

    package init() {}
}
