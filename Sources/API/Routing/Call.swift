// A request as an endpoint reads it: ids of the path, parameters, body. Each is parsed when it is read.
import Dispatch
import Domain
import HTTPTypes
import NIOCore
import Store
import Transport

struct Call: Sendable {
    let request: InboundRequest
    let limits: Limits
    let parameters: PathParameters
    /// Of a request with an `Idempotency-Key`, which is to be done once.
    var once: IdempotentRequest?
    private let reply: Reply

    init(_ request: InboundRequest, _ reply: Reply, limits: Limits, parameters: PathParameters) {
        self.request = request
        self.reply = reply
        self.limits = limits
        self.parameters = parameters
    }

    /// The parameters of the query.
    var query: Fields<String> { Fields(query: request.query ?? "") }

    /// The parameters of a query in which one may be repeated.
    func query(list: String) -> Fields<String> { Fields(query: request.query ?? "", list: list) }

    /// The page that a list without other parameters is asked for.
    func pageRequest() throws -> PageRequest {
        var query = query
        let request = query.pageRequest()
        try query.end()
        return request
    }

    /// Sends an interim answer. See ``Reply/inform(_:headers:)``.
    func inform(_ status: HTTPResponse.Status, headers: HTTPFields) { reply.inform(status, headers: headers) }

    /// An id of the path. A text that is no UUID gets the same answer as an unknown id.
    func id<Kind>(
        _ name: String, _: Identifier<Kind>.Type = Identifier<Kind>.self, orElse problem: Problem
    ) throws(Problem) -> Identifier<Kind> {
        guard let text = parameters[name], let id = Identifier<Kind>(parsing: text) else { throw problem }
        return id
    }

    /// The same for a thing whose parameter is `<thing>_id`.
    func id<Kind>(
        of thing: String, _: Identifier<Kind>.Type = Identifier<Kind>.self, orElse code: ProblemCode
    ) throws(Problem) -> Identifier<Kind> {
        try id("\(thing)_id", orElse: Problem(code, "There is no such \(thing)."))
    }

    func thread() throws(Problem) -> ThreadID { try id("thread_id", orElse: .threadNotFound) }

    func message() throws(Problem) -> MessageID { try id("message_id", orElse: .messageNotFound) }

    /// A user of the path. `me` is the caller.
    func user(_ caller: Identity, orElse problem: Problem) throws(Problem) -> UserID {
        parameters["user_id"] == "me" ? caller.user : try id("user_id", orElse: problem)
    }

    /// Reads the members of the body. If the call needs no body (`isOptional`), an empty one counts as `{}`.
    func fields<Shape>(
        isOptional: Bool = false, _ read: (inout Fields<JSONValue>) throws -> Shape
    ) async throws -> Shape {
        try Self.read(await body(orNone: isOptional ? .object([]) : nil), read)
    }

    /// Never inlined: the optimising compiler (6.3.1) crashes on reading fields inside an async function.
    @inline(never)
    private static func read<Shape>(
        _ body: JSONValue, _ read: (inout Fields<JSONValue>) throws -> Shape
    ) throws -> Shape {
        var fields = try Fields(body)
        return try read(&fields)
    }

    /// Checks the body of a call that needs none: only an empty object may be there.
    func noFields() async throws { try await fields(isOptional: true) { fields in try fields.end() } }

    /// Answers with a list whose query has nothing but a page.
    func list(_ name: StaticString, _ page: (PageRequest) async throws -> Page) async throws -> Answer {
        let request = try pageRequest()
        return .list(name, try await page(request), limit: request.limit)
    }

    /// The body as JSON. A Content-Type must be JSON's.
    /// - Parameter none: the value of an empty body, if the call needs none.
    func body(orNone none: JSONValue? = nil) async throws -> JSONValue {
        if request.body.readableBytes == 0, let none { return none }
        return try await JSONBody.read(request.body, type: request.headers[.contentType], limits: limits)
    }
}

enum JSONBody {
    /// The largest body that is parsed on an event loop. It delays other requests by at most a millisecond.
    static let onLoopByteCountMax = 16 * 1024

    /// Parses larger bodies one after the other, so that they use at most one core.
    private static let queue = DispatchQueue(label: "parley.json")

    /// Parses a body: a small one at once, a larger one away from the event loop.
    static func read(_ bytes: ByteBuffer, type: String?, limits: Limits) async throws -> JSONValue {
        if bytes.readableBytes <= onLoopByteCountMax { return try readAtOnce(bytes, type: type, limits: limits) }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { try readAtOnce(bytes, type: type, limits: limits) })
            }
        }
    }

    /// Parses a body at once. A Content-Type must be JSON's.
    static func readAtOnce(_ bytes: ByteBuffer, type: String?, limits: Limits) throws -> JSONValue {
        if let type, !ContentTypeHeader.isJSON(type) {
            throw Problem(.unsupportedMediaType, "The body must be application/json.")
        }
        if bytes.readableBytes == 0 { throw Problem(.malformedJSON, "The body is empty. Send a JSON object.") }
        return try JSONReader.read(bytes.readableBytesUInt8Span, .init(valueCountMax: limits.jsonValueCountMax))
    }
}

extension Problem {
    static let messageNotFound = Problem(.messageNotFound, "The thread has no such message.")
    static let memberNotFound = Problem(.memberNotFound, "The thread has no such member.")
    static let sessionNotFound = Problem(.sessionNotFound, "You have no such session.")
}
