// Streamed bodies behind Hummingbird's router.

import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Synchronization
import Testing

@testable import Transport

private struct Context: RequestContext {
    typealias Source = TransportContextSource
    var coreContext: CoreRequestContextStorage
    let bodyByteCount: Int
    let interim: InterimAnswers

    init(source: TransportContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        bodyByteCount = source.bodyByteCount
        interim = source.interim
    }
}

@Suite("A router's streamed body", .timeLimit(.minutes(1)))
struct UploadsToARouter {
    private static func put(_ headers: String) -> String { "PUT /up HTTP/1.1\r\nHost: x\r\n\(headers)\r\n\r\n" }

    private func withRouter(
        outlivesClient: Bool = false, _ routes: (Router<Context>) -> Void,
        _ body: (HTTPServer) async throws -> Void
    ) async throws {
        let router = Router(context: Context.self)
        routes(router)
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let adapter = RouterAdapter(responder: router.buildResponder(), logger: logger) { error, _ in
            OutboundResponse(status: .internalServerError, body: ByteBuffer(string: "\(error)"))
        }
        try await withServer(
            handler: { adapter.handle($0, $1, outlivesClient: outlivesClient) },
            decide: { _ in .stream(byteCountMax: 10_000_000) }, body)
    }

    @Test("is an async sequence, its declared length is known, and interim answers go out")
    func body() async throws {
        try await withRouter({
            $0.put("up") { request, context in
                context.interim.inform(HTTPResponse.Status(code: 104, reasonPhrase: "Go on"))
                var byteCount = 0
                for try await piece in request.body { byteCount += piece.readableBytes }
                return "\(context.bodyByteCount) \(byteCount)"
            }
        }) { server in
            let client = try await RawClient.connect(server.port)
            for (headers, parts, expected) in [
                ("Content-Length: 4", ["ab", "cd"], "4 4"),
                ("Transfer-Encoding: chunked", ["2\r\nab\r\n", "0\r\n\r\n"], "0 2"),
            ] {
                try await client.send(Self.put(headers))
                #expect(try await client.expect("HTTP/1.1 104 Go on\r\n\r\n"))
                for part in parts { try await client.send(part) }
                #expect(try await client.answer().body == expected)
            }
        }
    }

    @Test("keeps its task when the client goes away", arguments: [true, false])
    func survives(isStreamed: Bool) async throws {
        let entered = Collected<Void>()
        let door = Door()
        let stored = Collected<(byteCount: Int, error: String, isCancelled: Bool)>()
        try await withRouter(
            outlivesClient: true,
            {
                $0.put("up") { request, _ in
                    entered.add(())
                    await door.pass()
                    var byteCount = 0
                    var ending = "complete"
                    do {
                        for try await piece in request.body { byteCount += piece.readableBytes }
                    } catch {
                        ending = "\(error)"
                    }
                    stored.add((byteCount, ending, Task.isCancelled))
                    return "stored"
                }
            }
        ) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.put("Content-Length: \(isStreamed ? 100_000 : 3)") + "abc")
            try await entered.next()
            try await client.reset()
            while server.statistics.connectionsOpen > 0 { await Task.yield() }
            // The drain waits for the task, not only for connections.
            async let drained: Void = server.drain(deadline: .seconds(20))
            try await Task.sleep(for: .milliseconds(20))
            #expect(server.statistics.tasksRunning == 1)
            door.open()
            let result = try await stored.next()
            #expect(result.byteCount == 3 && !result.isCancelled)
            #expect(result.error == (isStreamed ? "clientGone" : "complete"))
            await drained
            #expect(server.statistics.tasksRunning == 0)
        }
    }

    @Test("loses its task at the end of a drain")
    func drained() async throws {
        let entered = Collected<Void>()
        let wasCancelled = Atomic(false)
        try await withRouter({
            $0.put("up") { _, _ -> String in
                entered.add(())
                do {
                    try await Task.sleep(for: .seconds(600))
                } catch {
                    wasCancelled.store(true, ordering: .releasing)
                }
                return "never"
            }
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.put("Content-Length: 5") + "abc")
            try await entered.next()
            try await client.reset()
            await server.drain(deadline: .milliseconds(100))
            let taskWasCancelled = wasCancelled.load(ordering: .acquiring)
            #expect(taskWasCancelled)
            #expect(server.statistics.tasksRunning == 0)
        }
    }
}
