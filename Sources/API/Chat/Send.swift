// Sending a message, the most frequent write. A usual request bypasses the router: it is read on the connection's event
// loop, queued, and answered with its batch, without a task. A request with a session that this node does not know yet,
// or with a large body, goes through the router instead, with the same result.
import Domain
import HTTPTypes
import Log
import Logging
import Store
import Transport

/// The request that waits for its message to be stored.
package enum SendWaiter: Sendable {
    /// A connection only.
    case reply(Reply, RequestNumber)
    case task(CheckedContinuation<Answer, any Error>)
}

/// `POST /v1/threads/{thread_id}/messages`.
package struct SendEndpoint: Sendable {
    /// The path of the call, for its route and for `thread(of:)`.
    static let pattern = "/v1/threads/{thread_id}/messages"
    private static let pathStart = String(pattern.prefix { $0 != "{" })
    private static let pathEnd = String(pattern.drop { $0 != "}" }.dropFirst())

    let writer: Writer<SendWaiter>
    let authenticator: Authenticator
    let rates: RateLimits
    let limits: Limits
    /// Whether a policy must be asked first, which takes a task.
    let asksPolicy: Bool
    let logger: Logger

    init(_ services: CallServices, asksPolicy: Bool) {
        (writer, authenticator) = (services.log.writer, services.authenticator)
        (rates, limits) = (services.rates, services.limits)
        (self.asksPolicy, logger) = (asksPolicy, services.logger)
    }

    /// Handles the request if it is a usual one. Returns false to leave it to the router. On the connection's event
    /// loop.
    func handle(_ request: InboundRequest, _ reply: Reply) -> Bool {
        guard !asksPolicy, request.query == nil, request.body.readableBytes <= JSONBody.onLoopByteCountMax,
            !request.headers.contains(.idempotencyKey),
            let thread = Self.thread(of: request.path)
        else { return false }
        do {
            guard case .identity(let identity) = try authenticator.known(request) else {
                return false
            }
            // Before the body is parsed, so an account that sends too often costs no work.
            try rates.send(by: identity.user)
            let body = try JSONBody.readAtOnce(
                request.body, type: request.headers[.contentType], limits: limits)
            writer.append(
                try message(body, to: thread, by: identity).message, waiter: .reply(reply, request.number))
        } catch {
            reply.send(Self.refusal(error, request.number, logger))
        }
        return true
    }

    /// The thread's id in the path of this call. Nil for another path.
    static func thread(of path: Substring) -> ThreadID? {
        let path = path.utf8
        guard path.count == pathStart.utf8.count + ThreadID.textByteCount + pathEnd.utf8.count,
            path.starts(with: pathStart.utf8),
            path.suffix(pathEnd.utf8.count).elementsEqual(pathEnd.utf8)
        else { return nil }
        return ThreadID(parsing: Substring(path.dropFirst(pathStart.utf8.count).prefix(ThreadID.textByteCount)))
    }

    /// Reads a message to append. Never inlined: see `Call.fields`.
    @inline(never)
    func message(
        _ body: JSONValue, to thread: ThreadID, by identity: Identity
    ) throws -> (message: NewMessage, type: MessageType) {
        let draft = try MessageDraft(body, limits: limits)
        let message = NewMessage(
            id: draft.id, thread: thread, sender: identity.user, type: draft.type.text, payload: draft.payload.text,
            attachments: draft.payload.attachments, replyTo: draft.replyTo, mentions: draft.mentions,
            expires: draft.expires)
        return (message, draft.type)
    }

    /// Returns the function that answers waiting requests with the outcomes of their messages, with one hop to each
    /// event loop.
    package static func answer(logger: Logger) -> @Sendable ([(SendWaiter, Writer<SendWaiter>.Appended)]) -> Void {
        { outcomes in
            var replies: [(response: OutboundResponse, replies: [Reply])] = []
            replies.reserveCapacity(outcomes.count)
            for (waiter, outcome) in outcomes {
                let answer = answer(to: outcome)
                switch waiter {
                case .task(let continuation): continuation.resume(with: answer)
                case .reply(let reply, let number):
                    replies.append((outbound(answer, number, logger), [reply]))
                }
            }
            sendAll(replies)
        }
    }

    private static func answer(to outcome: Writer<SendWaiter>.Appended) -> Result<Answer, any Error> {
        switch outcome {
        case .success(.created(let message, _)): .success(.made(true, message))
        case .success(.exists(let message)): .success(.made(false, message))
        case .success(.refused(let problem)), .failure(let problem): .failure(problem)
        }
    }

    private static func outbound(
        _ answer: Result<Answer, any Error>, _ number: RequestNumber, _ logger: Logger
    ) -> OutboundResponse {
        switch answer {
        case .success(let answer):
            var response = answer.outbound
            response.operation = OperationID.sendMessage.rawValue
            return response
        case .failure(let error):
            return refusal(error, number, logger)
        }
    }

    private static func refusal(_ error: any Error, _ number: RequestNumber, _ logger: Logger) -> OutboundResponse {
        var response = Failure(error).answer(requestID: number.text, logger: logger).outbound
        response.operation = OperationID.sendMessage.rawValue
        return response
    }
}
