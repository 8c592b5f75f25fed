// The API as the transport's request handler: the long poll and the usual send, which need no router,
// and the router for all else.
import Domain
import Hummingbird
import Logging
import Transport

/// Everything that the service answers over HTTP.
package struct APIHandler: RequestHandler {
    private let sync: SyncEndpoint
    private let send: SendEndpoint
    private let router: RouterAdapter<RouterResponder<APIContext>>
    private let logger: Logger

    package init(_ api: API, sync: SyncEndpoint) {
        self.sync = sync
        send = api.send
        let logger = api.logger
        self.logger = logger
        router = RouterAdapter(responder: api.makeResponder(), logger: logger) { error in
            Failure(error).answer(requestID: RequestNumber.next().text, logger: logger).outbound
        }
    }

    package func handle(_ request: InboundRequest, _ reply: Reply) {
        switch request.method {
        case .get where request.path == SyncEndpoint.route.pattern: sync.handle(request, reply)
        case .post where send.handle(request, reply): break
        // Other methods go on to the router, which refuses them.
        default: router.handle(request, reply)
        }
    }

    package func problem(for failure: TransportFailure) -> OutboundResponse {
        let problem = Problem(failure)
        guard problem.code == .internalError else { return ProblemDocument.response(problem) }
        let id = RequestNumber.next().text
        logger.error("a request was left without an answer", metadata: ["request": "\(id)"])
        return ProblemDocument.answer(problem, requestID: id).outbound
    }
}

extension SyncEndpoint {
    static let route = Route(.get, "/v1/sync", "sync", query: .read, .direct)
}
