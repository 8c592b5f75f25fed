// A request as an endpoint sees it: ids of the path, parameters, body. Decoded when asked for, refused with a problem.
import Dispatch
import Domain
import Hummingbird
import NIOCore

struct Call: Sendable {
    let request: Request
    let context: APIContext
    let limits: Limits
    let parameters: PathParameters
    /// Of the route's body.
    let bodyByteCountMax: Int

    /// The parameters of the query.
    var query: Fields<String> { Fields(query: request.queryText) }

    /// An id of the path. What is no UUID names nothing: the same answer as for one that there isn't.
    func id<Kind>(
        _ name: String, _: Identifier<Kind>.Type = Identifier<Kind>.self, orElse problem: Problem
    ) throws(Problem) -> Identifier<Kind> {
        guard let text = parameters[name], let id = Identifier<Kind>(parsing: text) else { throw problem }
        return id
    }

    func thread() throws(Problem) -> ThreadID { try id("thread_id", orElse: .threadNotFound) }

    func message() throws(Problem) -> MessageID { try id("message_id", orElse: .messageNotFound) }

    /// A user of the path, who may be the caller as `me`.
    func user(_ caller: Identity, orElse problem: Problem) throws(Problem) -> UserID {
        parameters["user_id"] == "me" ? caller.user : try id("user_id", orElse: problem)
    }

    /// What `read` makes of the body's members. A call that needs no body (`isOptional`) takes an empty one as `{}`.
    func fields<Shape>(
        isOptional: Bool = false, _ read: (inout Fields<JSONValue>) throws -> Shape
    ) async throws -> Shape {
        try Self.read(await body(orNone: isOptional ? .object([]) : nil), read)
    }

    /// Kept apart, never inlined: the optimising compiler (6.3.1) crashes on field reading inside an async function.
    @inline(never)
    private static func read<Shape>(
        _ body: JSONValue, _ read: (inout Fields<JSONValue>) throws -> Shape
    ) throws -> Shape {
        var fields = try Fields(body)
        return try read(&fields)
    }

    /// The body as JSON. Its type must be JSON's where one is given.
    /// - Parameter none: what an empty body stands for, where the call needs none.
    func body(orNone none: JSONValue? = nil) async throws -> JSONValue {
        let bytes = try await request.body.collect(upTo: bodyByteCountMax)
        if bytes.readableBytes == 0, let none { return none }
        return try await JSONBody.read(bytes, type: request.headers[.contentType], limits: limits)
    }
}

enum JSONBody {
    /// The largest body that is parsed on an event loop, where it holds up everybody else: a millisecond at worst.
    static let onLoopByteCountMax = 16 * 1024

    /// Parses larger bodies one after the other, so that they take no more than one core from everybody else.
    private static let queue = DispatchQueue(label: "parley.json")

    /// A body's bytes as JSON: at once if they are few, else off the event loop.
    static func read(_ bytes: ByteBuffer, type: String?, limits: Limits) async throws -> JSONValue {
        if bytes.readableBytes <= onLoopByteCountMax { return try readAtOnce(bytes, type: type, limits: limits) }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { try readAtOnce(bytes, type: type, limits: limits) })
            }
        }
    }

    /// A body's bytes as JSON. Its type must be JSON's where one is given.
    static func readAtOnce(_ bytes: ByteBuffer, type: String?, limits: Limits) throws -> JSONValue {
        if let type, !ContentTypeHeader.isJSON(type) {
            throw Problem(.unsupportedMediaType, "The body must be application/json.")
        }
        if bytes.readableBytes == 0 { throw Problem(.malformedJSON, "The body is empty. Send a JSON object.") }
        return try JSONReader.read(bytes.readableBytesUInt8Span, valueCountMax: limits.jsonValueCountMax)
    }
}

extension Request {
    /// The query as sent; empty without one.
    var queryText: Substring {
        guard let target = head.path, let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return "" }
        return target[target.utf8.index(after: mark)...]
    }
}

extension Problem {
    static let messageNotFound = Problem(.messageNotFound, "The thread has no such message.")
    static let memberNotFound = Problem(.memberNotFound, "The thread has no such member.")
    static let sessionNotFound = Problem(.sessionNotFound, "You have no such session.")
}
