// Finds the route of a request and calls its endpoint. Also decides by the head alone whether a body is accepted.
import Domain
import HTTPTypes
import Hummingbird
import NIOCore
import Transport

/// Answers the calls of the route table. Other requests get 404 or 405.
struct RouteResponder: HTTPResponder {
    let api: API
    let table: RouteTable

    /// Throws problems. The adapter renders them.
    func respond(to request: Request, context: APIContext) async throws -> Response {
        switch table.find(request.method, request.pathText) {
        case .nothing: throw Problem.nothingHere
        case .otherMethods(let methods): return Answer.methodNotAllowed(request.method, methods).response
        case .route(let route, let parameters):
            context.operation = route.operation
            let call = Call(
                request: request, context: context, limits: api.limits, parameters: parameters,
                bodyByteCountMax: route.body.byteCountMax(api.limits))
            return try await respond(to: call, route).response
        }
    }

    private func respond(to call: Call, _ route: Route) async throws -> Answer {
        switch route.endpoint {
        case .open(let endpoint):
            try check(call, route)
            return try await endpoint(call)
        case .signedIn(let endpoint):
            let identity = try await api.authenticator.identity(call.request.headers[.authorization])
            for limit in route.operation.accountLimits { try api.rates.take(limit, by: identity.user) }
            try check(call, route)
            guard route.method == .get else { return try await endpoint(call, identity) }
            return try await api.reads.run(for: identity.user) { try await endpoint(call, identity) }
        case .media(let endpoint):
            try check(call, route)
            return try await endpoint(call)
        case .admin(let endpoint):
            let actor = try api.adminActor(call)
            try check(call, route)
            return try await endpoint(call, actor)
        // `APIHandler` answers these before the router.
        case .direct, .directAdmin: throw Problem.nothingHere
        }
    }

    private func check(_ call: Call, _ route: Route) throws {
        if route.query == .none { try call.query.end() }
        // An upload checks its length itself, because its refusal has headers of its own.
        guard route.body.isStreamed || call.context.bodyByteCount <= call.bodyByteCountMax else {
            throw Problem.bodyTooLarge
        }
    }

    /// Checks the head of a request: whether the call exists, whether the token is well-formed (without the database),
    /// and how large the body may be.
    func decide(_ head: InboundRequest) -> BodyDecision {
        switch table.find(head.method, head.path) {
        case .nothing: return .answer(ProblemDocument.response(.nothingHere))
        case .otherMethods(let methods): return .answer(Answer.methodNotAllowed(head.method, methods).outbound)
        case .route(let route, _):
            do throws(Problem) {
                try checkToken(head, route)
            } catch {
                var response = ProblemDocument.response(error)
                response.operation = route.operation.rawValue
                return .answer(response)
            }
            return decideBody(head, route)
        }
    }

    private func decideBody(_ head: InboundRequest, _ route: Route) -> BodyDecision {
        let byteCountMax = route.body.byteCountMax(api.limits)
        guard route.body.isStreamed else { return .accept(byteCountMax: byteCountMax) }
        if route.body == .upload, let declared = head.headers.first(.contentLength).flatMap({ Int($0) }),
            declared > byteCountMax
        {
            var response = Answer.attachmentTooLarge(api.limits).outbound
            response.operation = route.operation.rawValue
            return .answer(response)
        }
        return .stream(byteCountMax: byteCountMax)
    }

    /// Whether a request is answered even if its client goes away: an upload, which keeps what arrived. One that arrived
    /// whole is not streamed, so the transport cannot tell.
    func outlivesClient(_ request: InboundRequest) -> Bool {
        guard request.body.readableBytes > 0, request.path.hasPrefix("/v1/attachments"),
            case .route(let route, _) = table.find(request.method, request.path)
        else { return false }
        return route.body == .upload
    }

    private func checkToken(_ head: InboundRequest, _ route: Route) throws(Problem) {
        switch route.endpoint {
        case .open: break
        case .signedIn, .direct: _ = try api.authenticator.known(head.headers[.authorization])
        case .media: break
        case .admin, .directAdmin:
            try api.adminGuard?.check(head.headers[.authorization], from: api.rates.address(of: head))
        }
    }
}

extension Request {
    /// The path as sent.
    fileprivate var pathText: Substring {
        guard let target = head.path else { return "" }
        return target[..<(target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex)]
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
