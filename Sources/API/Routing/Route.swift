// The list of routes as the single truth: what a path names, how large a body may be, the answer to a wrong method and the
// test of openapi.yaml all come from it. Paths are matched in RouteTable.swift.
import Domain
import HTTPTypes
import Store

/// One call of the API.
package struct Route: Sendable {
    /// Who may call, and what answers.
    enum Endpoint: Sendable {
        /// Anyone.
        case open(@Sendable (Call) async throws -> Answer)
        /// Whoever sends the token of a session.
        case signedIn(@Sendable (Call, Identity) async throws -> Answer)
        /// Whoever sends the admin's token.
        case admin(@Sendable (Call, AdminActor) async throws -> Answer)
        /// A handler that is asked before the router answers; the router never sees it.
        case direct
    }

    enum Query: Sendable {
        /// Takes no parameter: any is refused.
        case none
        /// The endpoint reads them.
        case read
        /// For probes and scrapers, which may send what they like.
        case ignored
    }

    /// What a call does with a body. Consulted before the body is read. Every size stands here and nowhere else.
    package enum Body: Sendable, CaseIterable {
        /// None is needed; a short one is ignored, or read where an empty object is as good.
        case unneeded
        /// A few short fields: names, passwords, tokens, flags.
        case small
        /// Fields and lists: enough to name all members of a group.
        case plain
        /// ``API/receiptCountMax`` entries of `POST /v1/receipts`, in whatever layout.
        case receipts
        /// A message, however its text is escaped.
        case message

        /// The most bytes that such a body may have.
        package func byteCountMax(_ limits: Limits) -> Int {
            switch self {
            case .unneeded: 4 * 1024
            case .small: 32 * 1024
            case .plain: limits.plainBodyByteCountMax
            case .receipts: 256 * 1024
            case .message: limits.bodyByteCountMax
            }
        }
    }

    package let method: HTTPRequest.Method
    /// As in openapi.yaml: `/v1/threads/{thread_id}`.
    package let pattern: String
    package let operation: OperationID
    let query: Query
    package let body: Body
    let endpoint: Endpoint

    /// - Parameter body: unless given, GET and DELETE need none, and others have fields.
    init(
        _ method: HTTPRequest.Method, _ pattern: String, _ operation: OperationID, query: Query = .none,
        body: Body? = nil, _ endpoint: Endpoint
    ) {
        self.method = method
        self.pattern = pattern
        self.operation = operation
        self.query = query
        self.body = body ?? (method == .get || method == .delete ? .unneeded : .plain)
        self.endpoint = endpoint
    }

    package var needsToken: Bool {
        switch endpoint {
        case .open: false
        case .signedIn, .admin, .direct: true
        }
    }

    /// The token is the admin's, and no session's.
    package var needsAdminToken: Bool { if case .admin = endpoint { true } else { false } }

    /// The parameters of the path, in their order.
    var parameterNames: [Substring] {
        pattern.split(separator: "/").filter { $0.first == "{" }.map { $0.dropFirst().dropLast() }
    }

    /// What a client may use: HEAD wherever there is GET.
    package var methods: [HTTPRequest.Method] { method == .get ? [.get, .head] : [method] }
}
