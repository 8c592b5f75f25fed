// What the API needs of the layers below, its routes together, and how Hummingbird's router is made from them.
import Credentials
import DelegatedTokens
import Domain
import Hummingbird
import Log
import Logging
import Store
import Telemetry

/// The calls of the HTTP contract. One extension a feature, in the file named after it.
package struct API: Sendable {
    let store: Store
    let writer: Writer<SendWaiter>
    let presence: PresenceKeeper
    let authenticator: Authenticator
    let hasher: PasswordHasher
    let mailQueued: (@Sendable () -> Void)?
    let delegation: Delegation?
    let rates: RateLimits
    let limits: Limits
    let isReady: @Sendable () -> Bool
    let metrics: @Sendable () -> MetricsText
    let figures: RequestFigures
    let log: RequestLog
    let logger: Logger
    let adminToken: AdminToken?
    let push: PushRegistration
    let searches = SearchSlots()

    /// - Parameters:
    ///   - mailQueued: hears that there is a mail to send; nil where none can be sent.
    ///   - delegation: by what the host app's own tokens are checked; nil: none are taken.
    ///   - isReady: whether the node should get requests: its tail keeps up and it isn't stopping.
    ///   - metrics: the node's figures; may block for milliseconds.
    ///   - figures: counts the requests.
    ///   - adminToken: nil: there are no routes for those who run the service.
    ///   - push: what registering for alerts needs to know of sending them.
    package init(
        store: Store, writer: Writer<SendWaiter>, presence: PresenceKeeper, authenticator: Authenticator,
        hasher: PasswordHasher, delegation: Delegation? = nil, mailQueued: (@Sendable () -> Void)? = nil,
        rates: RateLimits, limits: Limits,
        isReady: @escaping @Sendable () -> Bool, metrics: @escaping @Sendable () -> MetricsText,
        figures: RequestFigures, log: RequestLog, logger: Logger, adminToken: AdminToken? = nil,
        push: PushRegistration
    ) {
        self.store = store
        self.writer = writer
        self.presence = presence
        self.authenticator = authenticator
        self.hasher = hasher
        self.mailQueued = mailQueued
        self.delegation = delegation
        self.rates = rates
        self.limits = limits
        self.isReady = isReady
        self.metrics = metrics
        self.figures = figures
        self.log = log
        self.logger = logger
        self.adminToken = adminToken
        self.push = push
    }

    var send: SendEndpoint {
        SendEndpoint(writer: writer, authenticator: authenticator, rates: rates, limits: limits, logger: logger)
    }

    /// All calls that there are.
    package var routes: [Route] {
        authRoutes + sessionRoutes + pushRoutes + userRoutes + blockRoutes + exportRoutes + threadRoutes + memberRoutes
            + settingsRoutes + messageRoutes + reactionRoutes + receiptRoutes + typingRoutes + inboxRoutes
            + searchRoutes + [SyncEndpoint.route] + adminRoutes + operationRoutes
    }

    func makeResponder() -> RouterResponder<APIContext> {
        let routes = routes
        let router = Router(context: APIContext.self)
        router.add(middleware: ProblemMiddleware(table: RouteTable(routes)))
        for route in routes {
            guard let endpoint = respond(route) else { continue }
            for method in route.methods {
                router.on(
                    RouterPath(route.pattern), method: method, responder: CallbackResponder(callback: endpoint))
            }
        }
        return router.buildResponder()
    }

    /// A route's endpoint as the router calls it; nil for one that isn't the router's.
    private func respond(_ route: Route) -> (@Sendable (Request, APIContext) async throws -> Response)? {
        let takesNoQuery = route.query == .none
        let operation = route.operation
        @Sendable func call(_ request: Request, _ context: APIContext) throws -> Call {
            let call = Call(request: request, context: context, limits: limits)
            if takesNoQuery { try call.query.end() }
            return call
        }
        switch route.endpoint {
        case .open(let endpoint):
            return { request, context in
                context.operation = operation
                return try await endpoint(call(request, context)).response
            }
        case .signedIn(let endpoint):
            let limits = operation.accountLimits
            return { request, context in
                context.operation = operation
                let identity = try await authenticator.identity(request.headers[.authorization])
                for limit in limits { try rates.take(limit, by: identity.user) }
                return try await endpoint(call(request, context), identity).response
            }
        case .admin(let endpoint):
            return { request, context in
                context.operation = operation
                let call = Call(request: request, context: context, limits: limits)
                let actor = try adminActor(call)
                if takesNoQuery { try call.query.end() }
                return try await endpoint(call, actor).response
            }
        case .direct:
            return nil
        }
    }
}
