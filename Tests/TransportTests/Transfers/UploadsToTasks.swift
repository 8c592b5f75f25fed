// Streamed bodies of requests that are answered by tasks.

import HTTPTypes
import NIOCore
import Synchronization
import TestBasics
import Testing

@testable import Transport

@Suite("A streamed body that a task reads", .timeLimit(.minutes(1)))
struct UploadsToTasks {
    private static func put(_ headers: String) -> String { "PUT /up HTTP/1.1\r\nHost: x\r\n\(headers)\r\n\r\n" }

    private static let stream: @Sendable (InboundRequest) -> BodyDecision = { _ in .stream(byteCountMax: 10_000_000) }

    @Test("is an async sequence, its declared length is known, and interim answers go out")
    func body() async throws {
        try await withTaskServer(
            decide: Self.stream,
            answer: { request, reply in
                reply.inform(HTTPResponse.Status(code: 104, reasonPhrase: "Go on"))
                var byteCount = 0
                for try await piece in request.pieces { byteCount += piece.readableBytes }
                return (text("\(request.bodyStream?.declaredByteCount ?? 0) \(byteCount)"), nil)
            }
        ) { server in
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

    @Test("keeps its task when the client disconnects", arguments: [true, false])
    func survives(isStreamed: Bool) async throws {
        let entered = Collected<Void>()
        let door = Door()
        let stored = Collected<(byteCount: Int, error: String, isCancelled: Bool)>()
        try await withTaskServer(
            outlivesClient: true, decide: Self.stream,
            answer: { request, _ in
                guard request.method == .put else { return (text("idle"), nil) }
                entered.add(())
                await door.pass()
                var byteCount = 0
                var ending = "complete"
                do {
                    for try await piece in request.pieces { byteCount += piece.readableBytes }
                } catch {
                    ending = "\(error)"
                }
                stored.add((byteCount, ending, Task.isCancelled))
                return (text("stored"), nil)
            }
        ) { server in
            let idle = try await RawClient.connect(server.port)
            try await idle.send("GET /idle HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try await idle.answer().body == "idle")
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.put("Content-Length: \(isStreamed ? 100_000 : 3)") + "abc")
            try await entered.next()
            try await client.reset()
            try await eventually("one connection is open") { server.statistics.connectionsOpen == 1 }
            // The drain waits for the task, not only for connections. It closes the last of them first.
            async let drained: Void = server.drain(deadline: .seconds(20))
            #expect(try await idle.rest() == "")
            try await idle.close()
            try await eventually("no connection is open") { server.statistics.connectionsOpen == 0 }
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
        try await withTaskServer(
            decide: Self.stream,
            answer: { _, _ in
                entered.add(())
                do {
                    try await Task.sleep(for: .seconds(600))
                } catch {
                    wasCancelled.store(true, ordering: .releasing)
                }
                return (text("never"), nil)
            }
        ) { server in
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
