// Sends questions to the operator's policy.
import API
import Domain
import Logging
import Outbound
import ServiceConfiguration

/// The policy as the settings have it. Its address is the operator's, so it may be private and without TLS.
struct PolicyClient: Sendable {
    private let url: String
    private let timeout: Duration
    private let outbound: Outbound

    init(url: String, timeout: Duration, caFile: String?) throws(TransferFailure) {
        self.url = url
        self.timeout = timeout
        outbound = try Outbound(caFile: caFile, inFlightMax: PolicyLimits.inFlightCountMax)
    }

    func ask(_ body: [UInt8]) async -> Result<PolicyReply, PolicyFailure> {
        var exchange = HTTPExchange(
            url: url, headers: [("content-type", "application/json"), ("accept", "application/json")], body: body,
            reach: .anywhere)
        exchange.answerByteCountMax = PolicyLimits.answerByteCountMax
        exchange.opensAtOnce = true
        var transfer = Transfer(.http(exchange))
        transfer.timeMax = timeout
        do {
            let answer = try await outbound.perform(transfer)
            return .success(PolicyReply(status: answer.status, body: answer.body))
        } catch {
            return .failure(PolicyFailure(error))
        }
    }
}

extension PolicyFailure {
    fileprivate init(_ failure: TransferFailure) {
        switch failure {
        case .timedOut: self = .timeout
        case .overloaded: self = .overloaded
        case .refused, .failed, .forbidden, .closed: self = .connection
        }
    }
}

extension Settings {
    /// Returns nil without a policy.
    func makePolicyGate(_ metrics: PolicyMetrics, logger: Logger) throws -> PolicyGate? {
        guard let policyURL else { return nil }
        let client = try PolicyClient(url: policyURL, timeout: .milliseconds(policyTimeoutMs), caFile: caFile)
        return PolicyGate(
            failsClosed: policyFail == .closed, limits: limits, metrics: metrics, logger: logger, ask: client.ask)
    }
}
