// The list of routes as the single truth: the router, the answer to a wrong method and the test of openapi.yaml read it.
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

    package let method: HTTPRequest.Method
    /// As in openapi.yaml: `/v1/threads/{thread_id}`.
    package let pattern: String
    package let operation: OperationID
    let query: Query
    let endpoint: Endpoint

    init(
        _ method: HTTPRequest.Method, _ pattern: String, _ operation: OperationID, query: Query = .none,
        _ endpoint: Endpoint
    ) {
        self.method = method
        self.pattern = pattern
        self.operation = operation
        self.query = query
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

    /// What a client may use: HEAD wherever there is GET.
    package var methods: [HTTPRequest.Method] { method == .get ? [.get, .head] : [method] }
}

/// Answers which methods a path has. Only asked when the router found nothing, so it walks the list.
package struct RouteTable: Sendable {
    private let entries: [(segments: [Substring], methods: [HTTPRequest.Method])]

    package init(_ routes: [Route]) {
        entries = routes.map { ($0.pattern.split(separator: "/"), $0.methods) }
    }

    /// Empty for a path that there isn't. As the router does, it takes a literal segment before a parameter.
    package func methods(for path: some StringProtocol) -> [HTTPRequest.Method] {
        let segments = path.split(separator: "/")
        let matches = entries.filter { Self.matches($0.segments, segments) }
        guard let fewest = matches.map({ Self.parameterCount($0.segments) }).min() else { return [] }
        var methods: [HTTPRequest.Method] = []
        for match in matches where Self.parameterCount(match.segments) == fewest {
            methods += match.methods.filter { !methods.contains($0) }
        }
        return methods
    }

    private static func matches(_ pattern: [Substring], _ path: [some StringProtocol]) -> Bool {
        pattern.count == path.count && zip(pattern, path).allSatisfy { isParameter($0) || $0 == $1 }
    }

    private static func parameterCount(_ pattern: [Substring]) -> Int { pattern.count(where: isParameter) }

    private static func isParameter(_ segment: Substring) -> Bool { segment.first == "{" }
}
