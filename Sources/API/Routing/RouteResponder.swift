// Finds the route of a request and calls its endpoint. Also decides by the head alone whether a body is accepted.
import Domain
import HTTPTypes
import NIOCore
import Store
import Transport

/// Answers the calls of the route table. Other requests get 404 or 405.
struct RouteResponder: Sendable {
    let services: CallServices
    let table: RouteTable
    /// Nil without the web client.
    let webClient: WebClientPage?

    /// Answers a request: with the endpoint's answer, or with a problem for its error.
    func handle(_ request: InboundRequest, _ reply: Reply) {
        switch find(request) {
        case .nothing: reply.send(nothing(request))
        case .otherMethods(let methods): reply.send(Answer.methodNotAllowed(request.method, methods).outbound)
        case .route(let route, let parameters):
            if answersDirectly(request, reply, route) { return }
            let call = Call(request, reply, limits: services.limits, parameters: parameters)
            let (number, operation, logger) = (request.number, route.operation, services.logger)
            reply.answer(request, outlivesClient: outlivesClient(request, route)) {
                do {
                    let answer = try await respond(to: call, route)
                    return (answer.outbound(operation), answer.stream)
                } catch let kept as KeptAnswer {
                    return (Answer(kept).outbound(operation), nil)
                }
            } problem: { error in
                Failure(error).answer(requestID: number.text, logger: logger).outbound(operation)
            }
        }
    }

    /// Finds the route of a request. Where the admin API does not exist for the caller, a wrong method is 404 as well.
    private func find(_ request: InboundRequest) -> RouteTable.Match {
        let match = table.find(request.method, request.path)
        guard case .otherMethods = match, request.path.hasPrefix("/v1/admin/"),
            services.adminGuard.isHidden(from: request)
        else { return match }
        return .nothing
    }

    /// Calls an endpoint that needs no task. Returns false for another endpoint.
    private func answersDirectly(_ request: InboundRequest, _ reply: Reply, _ route: Route) -> Bool {
        switch route.endpoint {
        case .open, .signedIn, .media, .admin: return false
        case .direct(let endpoint): endpoint(request, reply)
        case .directAdmin(let scope, let endpoint):
            let (adminGuard, operation, logger) = (services.adminGuard, route.operation, services.logger)
            reply.run {
                do {
                    endpoint(request, reply, try await adminGuard.actor(request, needing: scope))
                } catch {
                    reply.send(
                        Failure(error).answer(requestID: request.number.text, logger: logger).outbound(operation))
                }
            }
        }
        return true
    }

    /// Whether a request is answered even if its client goes away: an upload, which keeps what arrived. One that arrived
    /// whole is not streamed, so the transport cannot tell.
    private func outlivesClient(_ request: InboundRequest, _ route: Route) -> Bool {
        route.body == .upload && request.body.readableBytes > 0
    }

    /// Throws the `KeptAnswer` of a request that was done before.
    private func respond(to call: Call, _ route: Route) async throws -> Answer {
        var call = call
        switch route.endpoint {
        case .open(let endpoint):
            _ = try IdempotentRequest(call.request, route, caller: nil)
            try check(call, route)
            return try await endpoint(call)
        case .signedIn(let endpoint):
            let identity = try await services.authenticator.identity(of: call.request)
            if let once = try IdempotentRequest(call.request, route, caller: identity.user.uuid) {
                try check(call, route)
                // A repeat costs a read, and none of the limits of writes.
                try await services.reads.run(for: identity.user) { try await useKeptAnswer(to: once) }
                call.once = once
            }
            for limit in route.operation.accountLimits { try services.rates.take(limit, by: identity.user) }
            try check(call, route)
            guard route.method == .get else { return try await endpoint(call, identity) }
            return try await services.reads.run(for: identity.user) { try await endpoint(call, identity) }
        case .media(let endpoint):
            try check(call, route)
            return try await endpoint(call)
        case .admin(let scope, let endpoint):
            let actor = try await services.adminGuard.actor(call.request, needing: scope)
            if let once = try IdempotentRequest(call.request, route, caller: actor.key?.id.uuid) {
                try check(call, route)
                try await useKeptAnswer(to: once)
                call.once = once
            }
            try check(call, route)
            return try await endpoint(call, actor)
        // Answered without a task.
        case .direct, .directAdmin: throw Problem.nothingHere
        }
    }

    private func useKeptAnswer(to request: IdempotentRequest) async throws {
        if let kept = try await services.store.keptAnswer(to: request) { throw kept }
    }

    private func check(_ call: Call, _ route: Route) throws {
        if route.query == .none { try call.query.end() }
        // An upload checks its length itself, because its refusal has headers of its own.
        let byteCountMax = route.body.byteCountMax(services.limits)
        guard route.body.isStreamed || call.request.body.readableBytes <= byteCountMax else {
            throw Problem.bodyTooLarge(byteCountMax: byteCountMax)
        }
    }

    /// Checks the head of a request: whether the call exists, whether the token is well-formed (without the database),
    /// whether a key that this node knows has the scope, and how large the body may be.
    func decide(_ head: InboundRequest) -> BodyDecision {
        switch find(head) {
        case .nothing: return .answer(nothing(head))
        case .otherMethods(let methods): return .answer(Answer.methodNotAllowed(head.method, methods).outbound)
        case .route(let route, _):
            do throws(Problem) {
                try checkToken(head, route)
            } catch {
                return .answer(ProblemDocument.answer(error).outbound(route.operation))
            }
            return decideBody(head, route)
        }
    }

    /// A problem document, or for a browser's address bar a page with a way home.
    private func nothing(_ head: InboundRequest) -> OutboundResponse {
        webClient?.nothing(head) ?? ProblemDocument.response(.nothingHere)
    }

    private func decideBody(_ head: InboundRequest, _ route: Route) -> BodyDecision {
        let byteCountMax = route.body.byteCountMax(services.limits)
        if let declared = head.headers.first(.contentLength).flatMap({ Int($0) }), declared > byteCountMax {
            let answer =
                route.body == .upload
                ? Answer.attachmentTooLarge(services.limits)
                : ProblemDocument.answer(.bodyTooLarge(byteCountMax: byteCountMax))
            return .answer(answer.outbound(route.operation))
        }
        return route.body.isStreamed ? .stream(byteCountMax: byteCountMax) : .accept(byteCountMax: byteCountMax)
    }

    private func checkToken(_ head: InboundRequest, _ route: Route) throws(Problem) {
        switch route.endpoint {
        case .open: break
        case .signedIn, .direct: _ = try services.authenticator.known(head)
        case .media: break
        case .admin(let scope, _), .directAdmin(let scope, _):
            try services.adminGuard.check(head, needing: scope)
        }
    }
}

extension Answer {
    static func methodNotAllowed(_ method: HTTPRequest.Method, _ methods: [HTTPRequest.Method]) -> Answer {
        let allowed = methods.map(\.rawValue).joined(separator: ", ")
        var answer = ProblemDocument.answer(
            Problem(.methodNotAllowed, "This path does not accept \(method.rawValue). Use one of: \(allowed)."))
        answer.headers[.allow] = allowed
        return answer
    }
}

extension Problem {
    static let nothingHere = Problem(.notFound, "No call has this path. The calls are listed at /openapi.yaml.")
}
