// A route of the API. The routes of all features (API.swift) are the only source of paths, methods and body sizes. The
// router, 405, preflights and the test of openapi.yaml read them. Polls and sends, which bypass the router, have their
// paths here, too.
import Domain
import HTTPTypes
import Store
import Transport

/// One call of the API.
package struct Route: Sendable {
    /// The callers that are allowed, and the function that answers.
    enum Endpoint: Sendable {
        /// Anyone.
        case open(@Sendable (Call) async throws -> Answer)
        /// Callers with a session token.
        case signedIn(@Sendable (Call, Identity) async throws -> Answer)
        /// Callers with a session token, a signed link or the media cookie. The endpoint finds out who calls.
        case media(@Sendable (Call) async throws -> Answer)
        /// Callers with an admin token, or with a key that has the scope.
        case admin(AdminScope, @Sendable (Call, AdminActor) async throws -> Answer)
        /// Callers with a session token. Called on the connection's event loop, without a task.
        case direct(@Sendable (InboundRequest, Reply) -> Void)
        /// As `admin`, for an endpoint that answers the request itself.
        case directAdmin(AdminScope, @Sendable (InboundRequest, Reply, AdminActor) -> Void)

        /// A list for administrators, whose query has nothing but a page.
        static func adminList(
            _ scope: AdminScope, _ name: StaticString, _ page: @escaping @Sendable (PageRequest) async throws -> Page
        ) -> Endpoint {
            .admin(scope) { call, _ in try await call.list(name, page) }
        }

        /// A call of administrators whose answer has no body.
        static func adminDone(
            _ scope: AdminScope, _ body: @escaping @Sendable (Call, AdminActor) async throws -> Void
        ) -> Endpoint {
            .admin(scope) { call, actor in
                try await body(call, actor)
                return .noContent
            }
        }
    }

    enum Query: Sendable {
        /// Every parameter is refused.
        case none
        /// The endpoint reads the parameters.
        case read
        /// Parameters are ignored, for probes and scrapers.
        case ignored
    }

    /// The size of body that a call accepts, known before the body is read. All sizes are defined here.
    package enum Body: Sendable, CaseIterable {
        /// No body is needed. A short one is ignored, or must be an empty object.
        case unneeded
        /// A few short fields, such as names, passwords, tokens and flags.
        case small
        /// Fields and lists, large enough to name all members of a group.
        case plain
        /// ``ReceiptCalls/countMax`` entries of `POST /v1/receipts`, in any layout.
        case receipts
        /// A message, with any escaping of its text.
        case message
        /// A post to an incoming hook. Most of it may be ignored keys.
        case hook
        /// A thumbnail created by the client.
        case thumbnail
        /// The bytes of a file. They are passed on as they arrive, and never held together.
        case upload
        /// An archive of any size, passed on as it arrives.
        case archive

        /// The largest size of such a body.
        package func byteCountMax(_ limits: Limits) -> Int {
            switch self {
            case .unneeded: 4 * 1024
            case .small: 32 * 1024
            case .plain: limits.plainBodyByteCountMax
            case .receipts: 256 * 1024
            case .message: limits.bodyByteCountMax
            case .hook: 128 * 1024
            case .thumbnail: AttachmentSizes.thumbnailByteCountMax
            case .upload: limits.attachmentByteCountMax
            case .archive: 1 << 50
            }
        }

        /// Whether the endpoint reads the body while it arrives.
        var isStreamed: Bool { self == .upload || self == .archive }
    }

    package let method: HTTPRequest.Method
    /// As in openapi.yaml: `/v1/threads/{thread_id}`.
    package let pattern: String
    package let operation: OperationID
    let query: Query
    package let body: Body
    package let repeats: Repeats
    let endpoint: Endpoint

    /// - Parameters:
    ///   - body: by default `.unneeded` for GET and DELETE, and `.plain` for other methods.
    ///   - repeats: by default `.refused` for POST, so that no call drops the header silently, and `.ignored` for other
    ///     methods, which are idempotent by themselves.
    init(
        _ method: HTTPRequest.Method, _ pattern: String, _ operation: OperationID, query: Query = .none,
        body: Body? = nil, repeats: Repeats? = nil, _ endpoint: Endpoint
    ) {
        self.method = method
        self.pattern = pattern
        self.operation = operation
        self.query = query
        self.body = body ?? (method == .get || method == .delete ? .unneeded : .plain)
        self.repeats = repeats ?? (method == .post ? .refused : .ignored)
        self.endpoint = endpoint
    }

    package var needsToken: Bool {
        switch endpoint {
        case .open: false
        case .signedIn, .media, .admin, .direct, .directAdmin: true
        }
    }

    /// What an admin call needs of a key. Nil for other calls.
    package var adminScope: AdminScope? {
        switch endpoint {
        case .admin(let scope, _), .directAdmin(let scope, _): scope
        case .open, .signedIn, .media, .direct: nil
        }
    }

    /// The names of the path parameters, in order.
    var parameterNames: [Substring] {
        pattern.split(separator: "/").filter { $0.first == "{" }.map { $0.dropFirst().dropLast() }
    }

    /// The methods that a client may use. GET includes HEAD.
    package var methods: [HTTPRequest.Method] { method == .get ? [.get, .head] : [method] }
}
