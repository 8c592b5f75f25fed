// A server for one test with a closure as its handler, and a place where replies wait for the test.

import HTTPTypes
import Logging
import NIOCore
import Synchronization
import Testing

@testable import Transport

struct ClosureHandler: RequestHandler {
    let body: @Sendable (InboundRequest, Reply) -> Void
    var onEnded: @Sendable (EndedRequest) -> Void = { _ in }
    var onHead: @Sendable (InboundRequest) -> BodyDecision = { _ in .accept(byteCountMax: .max) }

    func decide(_ head: InboundRequest) -> BodyDecision { onHead(head) }

    func handle(_ request: InboundRequest, _ reply: Reply) { body(request, reply) }

    func problem(for failure: TransportFailure, _ number: RequestNumber) -> OutboundResponse {
        OutboundResponse(
            status: failure.status, headers: [.contentType: "application/problem+json"],
            body: ByteBuffer(string: "{\"code\":\"\(failure)\"}"))
    }

    func ended(_ request: EndedRequest) { onEnded(request) }
}

/// Binds, runs `body`, drains.
func withServer(
    _ change: (inout TransportSettings) -> Void = { _ in },
    handler: @escaping @Sendable (InboundRequest, Reply) -> Void,
    ended: @escaping @Sendable (EndedRequest) -> Void = { _ in },
    decide: @escaping @Sendable (InboundRequest) -> BodyDecision = { _ in .accept(byteCountMax: .max) },
    _ body: (HTTPServer) async throws -> Void
) async throws {
    var settings = TransportSettings(host: "127.0.0.1", port: 0)
    change(&settings)
    let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    let server = try await HTTPServer.bind(
        settings, handler: ClosureHandler(body: handler, onEnded: ended, onHead: decide), logger: logger)
    do {
        try await body(server)
    } catch {
        await server.drain(deadline: .zero)
        throw error
    }
    await server.drain(deadline: .zero)
}

/// The same with a task for each request. Its error is answered with 500 and the error's text.
func withTaskServer(
    _ change: (inout TransportSettings) -> Void = { _ in }, outlivesClient: Bool = false,
    decide: @escaping @Sendable (InboundRequest) -> BodyDecision = { _ in .accept(byteCountMax: .max) },
    answer: @escaping @Sendable (InboundRequest, Reply) async throws -> (OutboundResponse, StreamedBody?),
    _ body: (HTTPServer) async throws -> Void
) async throws {
    try await withServer(
        change,
        handler: { request, reply in
            reply.answer(request, outlivesClient: outlivesClient) {
                try await answer(request, reply)
            } problem: { error in
                OutboundResponse(status: .internalServerError, body: ByteBuffer(string: "\(error)"))
            }
        }, decide: decide, body)
}

/// The same with a handler that answers nothing: the test gets the replies, and is notified of clients that leave.
func withParkingServer(
    _ body: (_ server: HTTPServer, _ parked: Collected<Reply>, _ gone: Collected<Void>) async throws -> Void
) async throws {
    let parked = Collected<Reply>()
    let gone = Collected<Void>()
    try await withServer(handler: { _, reply in
        reply.onClientGone { gone.add(()) }
        parked.add(reply)
    }) { server in
        try await body(server, parked, gone)
    }
}

/// Answers at once with method, target and body.
@Sendable func echo(_ request: InboundRequest, _ reply: Reply) {
    let text = "\(request.method) \(request.target) \(String(buffer: request.body))"
    reply.send(OutboundResponse(status: .ok, body: ByteBuffer(string: text)))
}

func text(_ body: String) -> OutboundResponse { OutboundResponse(status: .ok, body: ByteBuffer(string: body)) }

/// Lets the only event loop of a server turn 20 times. Each turn reads what any connection may read.
func turnLoop(of server: HTTPServer) async throws {
    let client = try await RawClient.connect(server.port)
    for _ in 0..<20 {
        try await client.send("GET /turn HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try await client.answer().status == 200)
    }
    try await client.close()
}

/// Collects values from handlers, for the test to wait for.
final class Collected<Value: Sendable>: Sendable {
    private let stream: AsyncStream<Value>
    private let continuation: AsyncStream<Value>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream(of: Value.self) }

    func add(_ value: Value) { continuation.yield(value) }

    /// Waits for `count` values, until the time limit of the suite.
    func take(_ count: Int) async -> [Value] {
        var values: [Value] = []
        for await value in stream {
            values.append(value)
            if values.count == count { break }
        }
        return values
    }

    func next() async throws -> Value { try #require(await take(1).first) }
}
