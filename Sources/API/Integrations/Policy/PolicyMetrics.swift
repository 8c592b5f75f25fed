// Counts the questions to the operator's policy.
import Domain
import Synchronization
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
package final class PolicyMetrics: Sendable {
    package let answers = LabelledCounters<PolicyVerdict.Action>()
    package let failures = LabelledCounters<PolicyFailure>()
    package let times = Histogram(.seconds)
    package let isPaused = Atomic(false)

    package init() {}

    package func write(to text: inout MetricsText) {
        text.counter(
            "parley_policy_answers_total", "Verdicts of the policy about messages and edits, by action.",
            answers.samples("action"))
        text.counter(
            "parley_policy_failures_total",
            "Messages and edits without a verdict of the policy, by reason. `paused`: not asked, because it failed too often. `overloaded`: refused, because too many wait.",
            failures.samples("reason"))
        text.gauge(
            "parley_policy_paused", "1 while this node does not ask the policy, because it failed too often.",
            isPaused.load(ordering: .relaxed) ? 1 : 0)
        text.histogram("parley_policy_seconds", "Time from a question to the policy to its answer.", times.values)
    }
}
