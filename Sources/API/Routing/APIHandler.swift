// The API as the request handler of the transport. Polls and most sends are handled without a task. Everything else
// goes to the router.
import Domain
import Logging
import Transport

/// Answers every request of the service.
package struct APIHandler: RequestHandler {
    private let sync: SyncEndpoint
    private let send: SendEndpoint
    private let preflights: Preflights
    private let webClient: WebClientPage?
    private let router: RouteResponder
    private let requestMetrics: RequestMetrics
    private let log: RequestLog

    /// - Parameter crossOrigin: the transport's policy. Nil allows no other origin.
    package init(_ api: API, crossOrigin: CrossOriginPolicy? = nil) {
        sync = api.sync
        let table = RouteTable(api.routes)
        preflights = Preflights(policy: crossOrigin, table: table)
        webClient = api.webClient.map(WebClientPage.init)
        send = api.send
        requestMetrics = api.requestMetrics
        log = api.log
        router = RouteResponder(services: api.services, table: table, webClient: webClient)
    }

    package func decide(_ head: InboundRequest) -> BodyDecision {
        if head.method == .options, let answer = preflights.answer(head) { return .answer(answer) }
        if let answer = webClient?.answer(head) { return .answer(answer) }
        return router.decide(head)
    }

    package func handle(_ request: InboundRequest, _ reply: Reply) {
        if let answer = webClient?.answer(request) { return reply.send(answer) }
        switch request.method {
        case .get where request.path == SyncEndpoint.path: sync.handle(request, reply)
        case .post where send.handle(request, reply): break
        case .options:
            if let answer = preflights.answer(request) { reply.send(answer) } else { router.handle(request, reply) }
        // The router refuses other methods.
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
