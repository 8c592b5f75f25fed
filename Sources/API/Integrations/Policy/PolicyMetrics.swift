// Counts the questions to the operator's policy.
import Domain
import Telemetry

/// Why the policy gave no verdict.
package enum PolicyFailure: String, Error, CaseIterable, Sendable {
    case timeout, connection
    /// A status other than 2xx.
    case status
    /// An answer that is no verdict, or a rewritten payload that breaks the rules for messages.
    case malformed
    /// Too many questions wait on this node, or of the account. The message is refused.
    case overloaded
    /// It failed too often, so it is not asked for a while.
    case paused
}

/// The metrics of this node's policy hook. From any thread.
package final class PolicyMetrics: Metrics {
    package let answers = LabelledCounters<PolicyVerdict.Action>(
        "parley_policy_answers_total",
        "Verdicts of the policy about messages and edits, by `action`: allow, deny, rewrite, review.", by: "action")
    package let failures = LabelledCounters<PolicyFailure>(
        "parley_policy_failures_total",
        "Messages and edits without a verdict of the policy, by `reason`: timeout, connection, status, malformed, overloaded "
            + "(refused, because too many wait), paused (not asked, because the policy failed too often).",
        by: "reason")
    /// 1 or 0.
    package let paused = Gauge(
        "parley_policy_paused", "1 while this node does not ask the policy, because it failed too often.")
    package let times = Histogram("parley_policy_seconds", "Time from a question to the policy to its answer.")

    package init() {}
}
