// The shape of the tables that say what a service's answers mean. docs/push.md shows them, and a test compares.
import Domain
import Outbound

/// A row: which answers, what Parley does, why.
struct PushRule: Sendable {
    enum Action: String {
        case accepted, forget, retry, renew, halt, drop
        /// `forget`, if the token was registered before the time in the answer; else `retry`.
        case forgetIfOlder = "forget if older"
        /// `halt`, if the topic is the configured one; `drop`, if the device named it.
        case haltUnlessNamed = "halt, or drop"
    }

    enum Match: Sendable {
        /// Whatever the status.
        case reason(String)
        /// One, or a whole hundred.
        case status(ClosedRange<Int>)
        case anything
    }

    let match: Match
    let action: Action
    let why: String

    init(_ reason: String, _ action: Action, _ why: String) {
        (match, self.action, self.why) = (.reason(reason), action, why)
    }

    init(_ statuses: ClosedRange<Int>, _ action: Action, _ why: String) {
        (match, self.action, self.why) = (.status(statuses), action, why)
    }

    init(_ status: Int, _ action: Action, _ why: String) { self.init(status...status, action, why) }

    init(otherwise action: Action, _ why: String) { (match, self.action, self.why) = (.anything, action, why) }

    /// What the answer is called in logs, metrics and the documentation.
    var name: String {
        switch match {
        case .reason(let reason): reason
        case .status(let range) where range.count == 1: String(range.lowerBound)
        case .status(let range): "\(range.lowerBound / 100)xx"
        case .anything: "other"
        }
    }

    var reason: String? { if case .reason(let text) = match { text } else { nil } }

    fileprivate func fits(_ status: Int) -> Bool {
        switch match {
        case .reason: false
        case .status(let range): range.contains(status)
        case .anything: true
        }
    }
}

extension PushRule {
    /// - isOlder: whether the token was registered before it went bad.
    /// - isTopicNamed: whether the device named the topic that is refused.
    func verdict(retryAfter: Duration?, isOlder: Bool = true, isTopicNamed: Bool = false) -> PushVerdict {
        switch action {
        case .accepted: .accepted
        case .forget: .forget(reason: name)
        case .forgetIfOlder: isOlder ? .forget(reason: name) : .retry(after: retryAfter, reason: name)
        case .retry: .retry(after: retryAfter, reason: name)
        case .renew: .renew(reason: name)
        case .halt: .halt(reason: name)
        case .haltUnlessNamed: isTopicNamed ? .drop(reason: name) : .halt(reason: name)
        case .drop: .drop(reason: name)
        }
    }
}

extension [PushRule] {
    /// The row of the reason, if there is one; else the first of the status. Every table ends with one that fits all.
    func row(status: Int, reason: String?) -> PushRule {
        let named = reason.flatMap { reason in first { $0.reason == reason } }
        return named ?? first { $0.fits(status) } ?? PushRule(otherwise: .drop, "")
    }
}

extension PushVerdict {
    /// What becomes of an alert that got no answer. It may have arrived nevertheless: the next try has the same ids. Nothing
    /// was sent where it isn't allowed to go.
    init(_ failure: TransferFailure) {
        switch failure {
        case .forbidden: self = .drop(reason: "address")
        case .refused, .failed: self = .retry(after: nil, reason: "connection")
        case .timedOut: self = .retry(after: nil, reason: "timeout")
        case .overloaded: self = .retry(after: nil, reason: "overloaded")
        case .closed: self = .retry(after: nil, reason: "closed")
        }
    }
}
