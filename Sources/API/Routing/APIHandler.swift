// The API as the transport's request handler: the long poll and the usual send, which need no task,
// and the routes' endpoints for all else.
import Domain
import Hummingbird
import Logging
import Transport

/// Everything that the service answers over HTTP.
package struct APIHandler: RequestHandler {
    private let sync: SyncEndpoint
    private let send: SendEndpoint
    private let preflights: Preflights
    private let responder: RouteResponder
    private let router: RouterAdapter<RouteResponder>
    private let requestMetrics: RequestMetrics
    private let log: RequestLog

    /// - Parameter crossOrigin: the transport's; nil lets no other origin in.
    package init(_ api: API, sync: SyncEndpoint, crossOrigin: CrossOriginPolicy? = nil) {
        self.sync = sync
        let table = RouteTable(api.routes)
        preflights = Preflights(policy: crossOrigin, table: table)
        send = api.send
        let logger = api.logger
        requestMetrics = api.requestMetrics
        log = api.log
        responder = RouteResponder(api: api, table: table)
        router = RouterAdapter(
            responder: responder, logger: logger, operation: { $0.operation.rawValue },
            problem: { error, context in
                Failure(error).answer(requestID: context.id, logger: logger).outbound
            })
    }

    package func decide(_ head: InboundRequest) -> BodyDecision {
        if head.method == .options, let answer = preflights.answer(head) { return .answer(answer) }
        return responder.decide(head)
    }

    package func handle(_ request: InboundRequest, _ reply: Reply) {
        switch request.method {
        case .get where request.path == SyncEndpoint.route.pattern: sync.handle(request, reply)
        case .post where send.handle(request, reply): break
        case .head where request.path == SyncEndpoint.route.pattern: sync.handle(request, reply)
        case .options:
            if let answer = preflights.answer(request) { reply.send(answer) } else { router.handle(request, reply) }
        // Other methods go on to the router, which refuses them.
        default: router.handle(request, reply)
        }
    }

    package func problem(for failure: TransportFailure, _ number: RequestNumber) -> OutboundResponse {
        let problem = Problem(failure)
        guard problem.code == .internalError else { return ProblemDocument.response(problem) }
        return ProblemDocument.answer(problem, requestID: number.text).outbound
    }

    package func ended(_ request: EndedRequest) {
        requestMetrics.record(request)
        log.record(request)
    }
}

extension SyncEndpoint {
    static let route = Route(.get, "/v1/sync", .sync, query: .read, .direct)
}
