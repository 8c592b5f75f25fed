// The lower layers as the API uses them, and the list of its routes. RouteResponder.swift finds the route of a request.
import Credentials
import DelegatedTokens
import Domain
import Log
import Logging
import Store
import Telemetry
import WebClient

/// The calls of the HTTP contract. Each feature is an extension in the file named after it.
package struct API: Sendable {
    let store: Store
    let writer: Writer<SendWaiter>
    let presence: PresenceWorker
    let authenticator: Authenticator
    let hasher: PasswordHasher
    let mailQueued: (@Sendable () -> Void)?
    let delegation: Delegation?
    let rates: RateLimits
    let signIns: SignInLimits
    let limits: Limits
    let isReady: @Sendable () -> Bool
    let metrics: @Sendable () -> MetricsText
    let requestMetrics: RequestMetrics
    let hookMetrics: HookMetrics
    let log: RequestLog
    let logger: Logger
    let adminGuard: AdminGuard?
    let metricsAccess: MetricsAccess
    let push: PushRegistration
    let reads: AccountReads
    let searches: SearchSlots
    let attachments: AttachmentServices
    let webClient: WebPage?
    let webhooks: WebhookServices?
    let signers: AccessSigners
    let uploads: TransferSlots
    let downloads: TransferSlots
    let changesFeed: ChangesFeed?
    let policy: PolicyGate?
    let exports: ExportServices?
    let imports: ImportServices

    /// - Parameters:
    ///   - delegation: how tokens of the host app are checked. Nil accepts none.
    ///   - mailQueued: called when a mail is ready to be sent. Nil if the service cannot send mail.
    ///   - isReady: whether the node should receive requests: its tail keeps up, and it is not stopping.
    ///   - metrics: renders the node's metrics. May block for milliseconds.
    ///   - requestMetrics: counts the requests.
    ///   - hookMetrics: counts the posts to incoming hooks.
    ///   - adminToken: nil for a service without admin calls.
    ///   - metricsAccess: the callers that may read the metrics here.
    ///   - push: the settings of alerts that registration depends on.
    ///   - reads: the limit on concurrent reads of an account, shared with `SyncEndpoint`.
    ///   - attachments: what uploads and downloads need besides the database.
    ///   - changesFeed: serves integrations. Nil for a service without them.
    ///   - webClient: the page that browsers get at `/`. Nil for a service without one.
    ///   - imports: what imports need besides the database.
    ///   - webhooks: nil for a service that does not deliver to webhooks.
    ///   - policy: asked before a message is accepted. Nil for a service without a policy.
    ///   - exports: nil for a service that writes no archives.
    package init(
        store: Store, writer: Writer<SendWaiter>, presence: PresenceWorker, authenticator: Authenticator,
        hasher: PasswordHasher, delegation: Delegation? = nil, mailQueued: (@Sendable () -> Void)? = nil,
        signIns: SignInLimits, limits: Limits,
        isReady: @escaping @Sendable () -> Bool, metrics: @escaping @Sendable () -> MetricsText,
        requestMetrics: RequestMetrics, hookMetrics: HookMetrics = HookMetrics(), log: RequestLog, logger: Logger,
        adminToken: AdminToken? = nil,
        metricsAccess: MetricsAccess = .open, push: PushRegistration, reads: AccountReads,
        attachments: AttachmentServices = AttachmentServices(), changesFeed: ChangesFeed? = nil,
        webClient: WebPage? = nil, webhooks: WebhookServices? = nil, policy: PolicyGate? = nil,
        exports: ExportServices? = nil, imports: ImportServices = ImportServices()
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
        self.hookMetrics = hookMetrics
        self.log = log
        self.logger = logger
        adminGuard = adminToken.map { AdminGuard($0, rates: signIns.rates, logger: logger) }
        self.metricsAccess = metricsAccess
        self.push = push
        self.attachments = attachments
        self.changesFeed = changesFeed
        self.webClient = webClient
        self.webhooks = webhooks
        self.policy = policy
        self.exports = exports
        self.imports = imports
        signers = AccessSigners(store)
        uploads = TransferSlots(
            "uploads", countMax: limits.uploadCountMax, accountCountMax: limits.accountUploadCountMax,
            displaced: attachments.metrics.uploadsDisplaced)
        downloads = TransferSlots(
            "downloads", countMax: limits.downloadCountMax, accountCountMax: limits.accountDownloadCountMax,
            displaced: attachments.metrics.downloadsDisplaced)
    }

    var send: SendEndpoint {
        SendEndpoint(
            writer: writer, authenticator: authenticator, rates: rates, limits: limits, asksPolicy: policy != nil,
            logger: logger)
    }

    /// Nil for a service without admin calls.
    var changes: ChangesEndpoint? {
        guard let changesFeed, adminGuard != nil else { return nil }
        return ChangesEndpoint(self, changesFeed)
    }

    /// All calls of the API.
    package var routes: [Route] {
        signInRoutes + sessionRoutes + pushRoutes + userRoutes + passwordRoutes + blockRoutes + exportRoutes
            + erasureRoutes
            + threadRoutes + memberRoutes
            + settingsRoutes + messageRoutes + reactionRoutes + receiptRoutes + typingRoutes + inboxRoutes
            + searchRoutes + attachmentRoutes + [SyncEndpoint.route] + reportRoutes + hookRoutes + adminRoutes
            + changesRoutes + consumerRoutes + webhookRoutes + commandRoutes + reviewRoutes + holdRoutes
            + outboxRoutes + exportArchiveRoutes + importRoutes + operationRoutes
    }
}
