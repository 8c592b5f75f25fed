// The HTTP contract of a node: the features that are calls and no more, those that `Service` adds, and the page of the
// metrics of all. RouteResponder.swift finds the route of a request.
import Credentials
import Domain
import Logging
import WebClient
import Workers

/// All calls of a node, and what answers them.
package struct API: Sendable {
    let services: CallServices
    let sync: SyncEndpoint
    let send: SendEndpoint
    let webClient: WebPage?
    let requestMetrics = RequestMetrics()
    let log: RequestLog
    package let routes: [Route]
    /// The components of all features, dependencies first.
    package let components: [Component]
    package let metrics: MetricsPage

    /// - Parameters:
    ///   - features: those with work of their own or settings. Their components are on the page of the metrics.
    ///   - policy: asked before a message is accepted. Nil for a service without a policy.
    ///   - hasher: hashes the passwords of accounts that administrators create.
    ///   - webClient: the page that browsers get at `/`. Nil for a service without one.
    ///   - slow: requests that take at least this long are logged. Nil logs none for its duration.
    ///   - operation: the calls of the operator's programs.
    ///   - offer: what clients may offer their users.
    package init(
        _ services: CallServices, features: [Feature], policy: PolicyGate?, hasher: PasswordHasher,
        webClient: WebPage?, slow: Duration?, operation: OperationSettings, offer: ServiceOffer
    ) {
        self.services = services
        self.webClient = webClient
        sync = SyncEndpoint(services)
        let messages = MessageCalls(services, policy: policy, showsEdits: offer.showsEdits)
        send = messages.send
        log = RequestLog(logger: services.logger, slow: slow)
        let (reads, requestMetrics) = (services.reads, requestMetrics)
        let own = [
            sync.feature, HookCalls(services, messages: messages).feature,
            Feature(
                routes: Self.accountRoutes(services) + Self.chatRoutes(services, messages)
                    + Self.adminRoutes(services, hasher, messages)),
            Feature(components: [
                Component("requests", metrics: requestMetrics.write),
                Component("rateLimits", metrics: services.rates.write),
                Component("accountReads", metrics: reads.writeReads),
            ]),
        ]
        components = (features + own).flatMap(\.components)
        metrics = MetricsPage(components)
        routes =
            (features + own).flatMap(\.routes) + OperationCalls(settings: operation, metrics: metrics).routes
            + OfferCalls(offer).routes
    }

    private static func accountRoutes(_ services: CallServices) -> [Route] {
        let (store, authenticator) = (services.store, services.authenticator)
        return SessionCalls(store: store, authenticator: authenticator).routes
            + UserCalls(
                store: store, presence: services.log.presence, directory: services.limits.directory
            ).routes
            + BlockCalls(store: store).routes
            + AccountExportCalls(store: store, authenticator: authenticator, reads: services.reads).routes
            + ErasureCalls(store: store, authenticator: authenticator).routes
    }

    private static func chatRoutes(_ services: CallServices, _ messages: MessageCalls) -> [Route] {
        let (store, rates, limits) = (services.store, services.rates, services.limits)
        let searches = CallSlots.searches(accountCountMax: limits.accountSearchCountMax)
        return messages.routes
            + ThreadCalls(store: store, rates: rates, limits: limits).routes
            + MemberCalls(store: store, rates: rates, limits: limits).routes
            + ThreadSettingsCalls(store: store).routes
            + ReactionCalls(store: store, rates: rates).routes
            + ReceiptCalls(store: store, writer: services.log.writer, rates: rates).routes
            + TypingCalls(store: store, presence: services.log.presence).routes
            + InboxCalls(store: store).routes
            + SearchCalls(store: store, limits: limits, slots: searches).routes
            + ReportCalls(store: store).routes
    }

    private static func adminRoutes(
        _ services: CallServices, _ hasher: PasswordHasher, _ messages: MessageCalls
    ) -> [Route] {
        let store = services.store
        return AdminCalls(
            store: store, authenticator: services.authenticator, hasher: hasher, limits: services.limits,
            messages: messages
        ).routes
            + AdminKeyCalls(store: store, adminGuard: services.adminGuard).routes
            + InvitationCalls(store: store).routes
            + ReviewCalls(store: store).routes
            + HoldCalls(store: store).routes
            + OutboxCalls(store: store).routes
    }
}
