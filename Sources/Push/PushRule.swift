// The rows of the tables of push services' answers, one table for each service. docs/push.md shows them, and a test
// compares.
import Domain
import Outbound

/// One row: which answers, what Parley does, and why.
struct PushRule: Sendable {
    enum Action: String {
        case accepted, forget, retry, renew, halt, drop
        /// `forget` if the token was registered before the time in the answer, else `retry`.
        case forgetIfOlder = "forget if older"
        /// `halt` if the topic is the configured one, `drop` if the device named it.
        case haltUnlessNamed = "halt, or drop"
    }

    enum Match: Sendable {
        /// A reason in the answer, whatever the status.
        case reason(String)
        /// One status, or a hundred of them.
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

    /// The answer's name in logs, metrics and the documentation.
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

/// The facts in an answer besides its status.
struct AnswerFacts {
    /// The service's word for what happened.
    var reason: String?
    /// Whether the token was registered before it went bad.
    var isOlder = true
    /// Whether the device named the topic that is refused.
    var isTopicNamed = false
}

extension PushRule {
    func verdict(_ facts: AnswerFacts, retryAfter: Duration?) -> PushVerdict {
        switch action {
        case .accepted: .accepted
        case .forget: .forget(reason: name)
        case .forgetIfOlder: facts.isOlder ? .forget(reason: name) : .retry(after: retryAfter, reason: name)
        case .retry: .retry(after: retryAfter, reason: name)
        case .renew: .renew(reason: name)
        case .halt: .halt(reason: name)
        case .haltUnlessNamed: facts.isTopicNamed ? .drop(reason: name) : .halt(reason: name)
        case .drop: .drop(reason: name)
        }
    }
}

extension [PushRule] {
    /// Returns what a transfer's result means for its alert, by this table.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - read: reads the answer's body.
    func verdict(
        _ result: Result<TransferAnswer, TransferFailure>, now: Int, _ read: (TransferAnswer) -> AnswerFacts
    ) -> PushVerdict {
        switch result {
        case .success(let answer):
            let facts = read(answer)
            return row(status: answer.status, reason: facts.reason)
                .verdict(facts, retryAfter: answer.retryAfter(now: now))
        case .failure(let failure): return PushVerdict(failure)
        }
    }

    /// Returns the row of the reason, or the first row of the status. The last row of each table fits every answer.
    func row(status: Int, reason: String?) -> PushRule {
        let named = reason.flatMap { reason in first { $0.reason == reason } }
        return named ?? first { $0.fits(status) } ?? PushRule(otherwise: .drop, "")
    }
}

extension PushVerdict {
    /// The verdict for an alert without an answer. The alert may have arrived nevertheless; the next try has the same
    /// ids. A forbidden address was sent nothing.
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
