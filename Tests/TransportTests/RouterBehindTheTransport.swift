// Hummingbird's router behind the adapter.

import Basics
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import Transport

/// Like the context of the API.
private struct Context: RequestContext {
    typealias Source = TransportContextSource
    var coreContext: CoreRequestContextStorage
    let peerAddress: IPAddress?

    init(source: TransportContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        peerAddress = source.peerAddress
    }
}

private struct Fault: Error {}

@Suite("A router behind the transport", .timeLimit(.minutes(1)))
struct RouterBehindTheTransport {
    private func withRouter(
        _ routes: (Router<Context>) -> Void, _ body: (HTTPServer) async throws -> Void
    ) async throws {
        let router = Router(context: Context.self)
        routes(router)
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let adapter = RouterAdapter(responder: router.buildResponder(), logger: logger) { error, _ in
            OutboundResponse(
                status: (error as? any HTTPResponseError)?.status ?? .internalServerError,
                body: ByteBuffer(string: "problem"))
        }
        try await withServer(handler: { adapter.handle($0, $1) }, body)
    }

    @Test("a route sees method, path parameters, query, headers, body and the client's address")
    func route() async throws {
        try await withRouter({ router in
            router.post("things/:id") { request, context in
                let body = try await request.body.collect(upTo: 100)
                let id = try context.parameters.require("id")
                let query = request.uri.queryParameters["q"] ?? "-"
                let header = HTTPField.Name("X-A").flatMap { request.headers[$0] } ?? "-"
                let host = request.head.authority ?? "-"
                let peer = context.peerAddress.map { "\($0)" } ?? "-"
                return "\(id) \(query) \(header) \(host) \(String(buffer: body)) \(peer)"
            }
        }) { server in
            let client = try await RawClient.connect(server.port)
            for _ in 1...2 {
                try await client.send("POST /things/7?q=1 HTTP/1.1\r\nHost: h\r\nx-a: b\r\nContent-Length: 2\r\n\r\nok")
                let answer = try await client.answer()
                #expect(answer.status == 200)
                #expect(answer.body == "7 1 b h ok 127.0.0.1")
                #expect(answer.headers["content-length"] == "20")
            }
        }
    }

    @Test("the owner renders errors of the router: no route, and an unknown error")
    func errors() async throws {
        try await withRouter({ router in
            router.get("fault") { _, _ -> String in throw Fault() }
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send("GET /none HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await client.answer().status == 404)
            try await client.send("GET /fault HTTP/1.1\r\nHost: h\r\n\r\n")
            let answer = try await client.answer()
            #expect(answer.status == 500)
            #expect(answer.body == "problem")
        }
    }

    @Test("runs a request's task on its connection's event loop")
    func executor() async throws {
        try await withRouter({ router in
            router.get("loop") { _, _ in
                await Task.yield()
                return MultiThreadedEventLoopGroup.currentEventLoop == nil ? "elsewhere" : "on a loop"
            }
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send("GET /loop HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await client.answer().body == "on a loop")
        }
    }

    @Test("streams a body of unknown length in chunks, and waits for a client that is behind")
    func streams() async throws {
        let piece = ByteBuffer(repeating: 0x61, count: 100_000)
        let written = Atomic(0)
        let finished = Collected<Void>()
        try await withRouter({ router in
            router.get("stream") { _, _ in
                Response(
                    status: .ok,
                    body: ResponseBody { writer in
                        for _ in 0..<200 {
                            try await writer.write(piece)
                            written.add(1, ordering: .relaxed)
                        }
                        try await writer.finish(nil)
                        finished.add(())
                    })
            }
        }) { server in
            let slow = try await RawClient.connect(server.port, readsByItself: false)
            try await slow.send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n")
            let client = try await RawClient.connect(server.port)
            try await client.send("GET /stream HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            let answer = try await client.rest()
            #expect(answer.contains("\r\nTransfer-Encoding: chunked\r\n"))
            // 200 chunks with their sizes and ends, between a head and the last chunk.
            #expect(answer.utf8.count > 200 * 100_009)
            #expect(answer.hasSuffix("a\r\n0\r\n\r\n"))
            try await finished.next()
            // The kernel buffers of the slow client hold a part. The rest waits in its route, not in memory.
            #expect(written.load(ordering: .relaxed) < 390)
            try await slow.close()
        }
    }

    @Test("a stream that fails cuts the connection, so that it does not look complete")
    func brokenStream() async throws {
        try await withRouter({ router in
            router.get("broken") { _, _ in
                Response(
                    status: .ok,
                    body: ResponseBody { writer in
                        try await writer.write(ByteBuffer(string: "half"))
                        throw Fault()
                    })
            }
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send("GET /broken HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await client.rest().hasSuffix("4\r\nhalf\r\n"))
        }
    }

    @Test("the end of a drain cancels running tasks, and waits for them")
    func drained() async throws {
        let entered = Collected<Void>()
        let hasEnded = Atomic(false)
        try await withRouter({ router in
            router.get("wait") { _, _ -> String in
                entered.add(())
                try? await Task.sleep(for: .seconds(600))
                hasEnded.store(true, ordering: .releasing)
                return "never"
            }
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
            try await entered.next()
            #expect(server.statistics.tasksRunning == 1)
            await server.drain(deadline: .milliseconds(50))
            let taskHasEnded = hasEnded.load(ordering: .acquiring)
            #expect(taskHasEnded)
            #expect(server.statistics.tasksRunning == 0)
        }
    }

    @Test("cancels the request's task when the client goes away", arguments: [true, false])
    func cancels(byReset: Bool) async throws {
        let entered = Collected<Void>()
        let cancelled = Collected<Void>()
        try await withRouter({ router in
            router.get("wait") { _, _ -> String in
                await withTaskCancellationHandler {
                    entered.add(())
                    try? await Task.sleep(for: .seconds(600))
                } onCancel: {
                    cancelled.add(())
                }
                return "never"
            }
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
            try await entered.next()
            let start = ContinuousClock.now
            if byReset { try await client.reset() } else { try await client.close() }
            try await cancelled.next()
            #expect(ContinuousClock.now - start < .seconds(byReset ? 1 : 5))
        }
    }
}
