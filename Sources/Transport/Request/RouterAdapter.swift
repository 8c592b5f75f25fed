// Runs a Hummingbird responder (a router) for a request of this transport. The API decides which requests come here.

import Basics
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// The source of a request context. A context for this transport declares `typealias Source = TransportContextSource`.
/// It has its own `id`, because nothing puts Hummingbird's request id into the logger here.
package struct TransportContextSource: RequestContextSource, Sendable {
    package let number: RequestNumber
    package let logger: Logger
    package let eventLoop: any EventLoop
    package let peerAddress: IPAddress?
    /// The size of the body. Of a streamed one the declared length, or 0 if it comes in chunks.
    package let bodyByteCount: Int
    package let interim: InterimAnswers
}

/// Sends interim answers to a request.
package struct InterimAnswers: Sendable {
    let reply: Reply

    /// See ``Reply/inform(_:headers:)``.
    package func inform(_ status: HTTPResponse.Status, headers: HTTPFields = [:]) {
        reply.inform(status, headers: headers)
    }
}

/// The bridge to Hummingbird's async code: one task for each request, on the connection's event loop.
package struct RouterAdapter<Responder: HTTPResponder>: Sendable
where Responder.Context: InitializableFromSource<TransportContextSource> {
    /// Bodies of a known size up to this are sent in one write. Others are streamed.
    private static var collectedByteCountMax: Int { 64 * 1024 }

    private let responder: Responder
    private let logger: Logger
    private let operation: @Sendable (Responder.Context) -> UInt8
    private let problem: @Sendable (any Error, Responder.Context) -> OutboundResponse

    /// - Parameters:
    ///   - operation: the operation that the responder served, read when it is done; see
    ///     ``OutboundResponse/operation``.
    ///   - problem: renders an error of the responder. Not called if the client is gone.
    package init(
        responder: Responder, logger: Logger, operation: @escaping @Sendable (Responder.Context) -> UInt8 = { _ in 0 },
        problem: @escaping @Sendable (any Error, Responder.Context) -> OutboundResponse
    ) {
        self.responder = responder
        self.logger = logger
        self.operation = operation
        self.problem = problem
    }

    /// Answers `request` with the responder. From any thread.
    ///
    /// The task is unstructured, because a channel's callback has no task to be a child of. Its owner is the
    /// connection: it holds the task as long as the request lasts, and cancels it when the client goes away or the
    /// server's drain ends. The drain waits for the task.
    /// - Parameter outlivesClient: whether only the drain's end cancels the task. Always so for a streamed body, because
    ///   the task stores what arrived before the client went away.
    package func handle(_ request: InboundRequest, _ reply: Reply, outlivesClient: Bool = false) {
        let executor = reply.reference.executor
        let server = executor.server
        server.taskBegins()
        let number = outlivesClient || request.bodyStream != nil ? server.lastingTasks.begin() : nil
        let task = Task(executorPreference: executor) {
            await respond(to: request, reply)
            server.taskEnded(lasting: number)
        }
        if let number {
            server.lastingTasks.store(task, at: number)
        } else {
            reply.onClientGone(atHalfClose: false) { task.cancel() }
        }
    }

    private func respond(to request: InboundRequest, _ reply: Reply) async {
        let source = TransportContextSource(
            number: request.number, logger: logger, eventLoop: reply.eventLoop, peerAddress: request.peerAddress,
            bodyByteCount: request.bodyStream.map { $0.declaredByteCount ?? 0 } ?? request.body.readableBytes,
            interim: InterimAnswers(reply: reply))
        let context = Responder.Context(source: source)
        do {
            let head = HTTPRequest(
                method: request.method, scheme: "http", authority: request.headers.host, path: request.target,
                headerFields: request.headers.fields)
            let body = request.bodyStream.map { RequestBody(asyncSequence: $0) } ?? RequestBody(buffer: request.body)
            let response = try await responder.respond(to: Request(head: head, body: body), context: context)
            if let byteCount = response.body.contentLength, byteCount <= Self.collectedByteCountMax {
                let operation = operation(context)
                // Sent when the body is finished: what its writer does afterwards happens after the answer.
                let collector = BodyCollector { body in
                    reply.send(
                        OutboundResponse(
                            status: response.status, headers: response.headers, body: body, operation: operation))
                }
                try await response.body.write(collector)
            } else {
                await stream(response, operation(context), reply, isHead: request.method == .head)
            }
        } catch {
            if reply.isClientGone { return }
            var response = problem(error, context)
            response.operation = operation(context)
            reply.send(response)
        }
    }

    private func stream(_ response: Response, _ operation: UInt8, _ reply: Reply, isHead: Bool) async {
        let stream = reply.stream(
            response.status, headers: response.headers, contentLength: response.body.contentLength,
            operation: operation)
        // Nobody would read the body, and it may be large.
        if isHead { return stream.end() }
        do {
            try await response.body.write(StreamBodyWriter(stream: stream))
            stream.end()
        } catch {
            // The head has been sent, so closing the connection is the only way to report the error.
            if !reply.isClientGone {
                logger.error("a streamed answer failed; closed the connection", metadata: ["error": "\(error)"])
            }
            stream.abort()
        }
    }
}

/// Collects a small body without going through the connection.
private final class BodyCollector: ResponseBodyWriter {
    private var bytes = ByteBuffer()
    private let finished: (ByteBuffer) -> Void

    init(finished: @escaping (ByteBuffer) -> Void) { self.finished = finished }

    func write(_ buffer: ByteBuffer) async throws {
        if bytes.readableBytes == 0 {
            bytes = buffer
        } else {
            bytes.writeImmutableBuffer(buffer)
        }
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws { finished(bytes) }
}

/// Passes each piece to the connection, and waits while the client is behind. Trailers are dropped: no client reads
/// them.
private struct StreamBodyWriter: ResponseBodyWriter {
    let stream: ResponseStream

    func write(_ buffer: ByteBuffer) async throws { try await stream.write(buffer) }

    func finish(_ trailingHeaders: HTTPFields?) async throws { stream.end() }
}
