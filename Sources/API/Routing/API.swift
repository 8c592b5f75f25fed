// What the API needs of the layers below, and its routes together. How a request finds its route is in RouteResponder.swift.
import Credentials
import DelegatedTokens
import Domain
import Log
import Logging
import Store
import Telemetry

/// The calls of the HTTP contract. One extension a feature, in the file named after it.
package struct API: Sendable {
    let store: Store
    let writer: Writer<SendWaiter>
    let presence: PresenceWorker
    let authenticator: Authenticator
    let hasher: PasswordHasher
    let mailQueued: (@Sendable () -> Void)?
    let delegation: Delegation?
    let rates: RateLimits
    let signIns: SignIns
    let limits: Limits
    let isReady: @Sendable () -> Bool
    let metrics: @Sendable () -> MetricsText
    let requestMetrics: RequestMetrics
    let log: RequestLog
    let logger: Logger
    let adminGuard: AdminGuard?
    let metricsAccess: MetricsAccess
    let push: PushRegistration
    let reads: AccountReads
    let searches: SearchSlots

    /// - Parameters:
    ///   - mailQueued: hears that there is a mail to send; nil where none can be sent.
    ///   - delegation: by what the host app's own tokens are checked; nil: none are taken.
    ///   - isReady: whether the node should get requests: its tail keeps up and it isn't stopping.
    ///   - metrics: the node's figures; may block for milliseconds.
    ///   - figures: counts the requests.
    ///   - adminToken: nil: there are no routes for those who run the service.
    ///   - metricsAccess: who may read the figures here.
    ///   - push: what registering for alerts needs to know of sending them.
    ///   - reads: the bound on the reads of an account, shared with `SyncEndpoint`.
    package init(
        store: Store, writer: Writer<SendWaiter>, presence: PresenceWorker, authenticator: Authenticator,
        hasher: PasswordHasher, delegation: Delegation? = nil, mailQueued: (@Sendable () -> Void)? = nil,
        signIns: SignIns, limits: Limits,
        isReady: @escaping @Sendable () -> Bool, metrics: @escaping @Sendable () -> MetricsText,
        requestMetrics: RequestMetrics, log: RequestLog, logger: Logger, adminToken: AdminToken? = nil,
        metricsAccess: MetricsAccess = .open, push: PushRegistration, reads: AccountReads
    ) {
        self.store = store
        self.reads = reads
        self.writer = writer
        self.presence = presence
        self.authenticator = authenticator
        self.hasher = hasher
        self.mailQueued = mailQueued
        self.delegation = delegation
        rates = signIns.rates
        self.signIns = signIns
        self.limits = limits
        searches = SearchSlots(accountCountMax: limits.accountSearchCountMax)
        self.isReady = isReady
        self.metrics = metrics
        self.requestMetrics = requestMetrics
        self.log = log
        self.logger = logger
        adminGuard = adminToken.map { AdminGuard($0, rates: signIns.rates, logger: logger) }
        self.metricsAccess = metricsAccess
        self.push = push
    }

    var send: SendEndpoint {
        SendEndpoint(writer: writer, authenticator: authenticator, rates: rates, limits: limits, logger: logger)
    }

    /// All calls that there are.
    package var routes: [Route] {
        authRoutes + sessionRoutes + pushRoutes + userRoutes + passwordRoutes + blockRoutes + exportRoutes
            + threadRoutes + memberRoutes
            + settingsRoutes + messageRoutes + reactionRoutes + receiptRoutes + typingRoutes + inboxRoutes
            + searchRoutes + [SyncEndpoint.route] + adminRoutes + operationRoutes
    }
}
