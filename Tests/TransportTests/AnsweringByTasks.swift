// Requests that are answered by async code, each in a task of its own.

import HTTPTypes
import NIOCore
import NIOPosix
import Synchronization
import TestBasics
import Testing

@testable import Transport

private struct Fault: Error {}

@Suite("Answering by tasks", .timeLimit(.minutes(1)))
struct AnsweringByTasks {
    private static let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

    @Test("passes method, path, query, headers, body and the client's address")
    func request() async throws {
        try await withTaskServer(answer: { request, _ in
            var body = ByteBuffer()
            for try await piece in request.pieces { body.writeImmutableBuffer(piece) }
            let header = HTTPField.Name("X-A").flatMap { request.headers[$0] } ?? "-"
            let peer = request.peerAddress.map { "\($0)" } ?? "-"
            let words = [
                "\(request.method)", String(request.path), String(request.query ?? "-"), header,
                request.headers.host ?? "-", String(buffer: body), peer,
            ]
            return (text(words.joined(separator: " ")), nil)
        }) { server in
            let client = try await RawClient.connect(server.port)
            for _ in 1...2 {
                try await client.send("POST /things/7?q=1 HTTP/1.1\r\nHost: h\r\nx-a: b\r\nContent-Length: 2\r\n\r\nok")
                let answer = try await client.answer()
                #expect(answer.status == 200)
                #expect(answer.body == "POST /things/7 q=1 b h ok 127.0.0.1")
                #expect(answer.headers["content-length"] == "\(answer.body.utf8.count)")
            }
        }
    }

    @Test("sends the owner's problem for an error, and the connection stays open")
    func errors() async throws {
        try await withTaskServer(answer: { request, _ in
            if request.path == "/fault" { throw Fault() }
            return (text("fine"), nil)
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send("GET /fault HTTP/1.1\r\nHost: h\r\n\r\n")
            let answer = try await client.answer()
            #expect(answer.status == 500 && answer.body == "Fault()")
            try await client.send(Self.get)
            #expect(try await client.answer().body == "fine")
        }
    }

    @Test("runs a request's task on its connection's event loop")
    func executor() async throws {
        try await withTaskServer(answer: { _, _ in
            await Task.yield()
            return (text(MultiThreadedEventLoopGroup.currentEventLoop == nil ? "elsewhere" : "on a loop"), nil)
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.get)
            #expect(try await client.answer().body == "on a loop")
        }
    }

    // MARK: Streamed answers

    @Test("streams a body of unknown length in chunks, and waits for a client that is behind")
    func streams() async throws {
        let piece = ByteBuffer(repeating: 0x61, count: 100_000)
        let written = Atomic(0)
        let finished = Collected<Void>()
        try await withTaskServer(answer: { _, _ in
            let body = StreamedBody { writer in
                for _ in 0..<200 {
                    try await writer.write(piece)
                    written.add(1, ordering: .relaxed)
                }
                writer.finish()
                finished.add(())
            }
            return (OutboundResponse(status: .ok), body)
        }) { server in
            let slow = try await RawClient.connect(server.port, readsByItself: false)
            try await slow.send(Self.get)
            let client = try await RawClient.connect(server.port)
            try await client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            let answer = try await client.rest()
            #expect(answer.contains("\r\nTransfer-Encoding: chunked\r\n"))
            // 200 chunks with their sizes and ends, between a head and the last chunk.
            #expect(answer.utf8.count > 200 * 100_009)
            #expect(answer.hasSuffix("a\r\n0\r\n\r\n"))
            try await finished.next()
            // The kernel buffers of the slow client hold a part. The rest waits in its task, not in memory.
            #expect(written.load(ordering: .relaxed) < 390)
            try await slow.close()
        }
    }

    /// A body that fails after its first bytes.
    private static func half(of byteCount: Int?) -> StreamedBody {
        StreamedBody(byteCount: byteCount) { writer in
            try await writer.write(ByteBuffer(string: "half"))
            throw Fault()
        }
    }

    @Test("cuts the connection if a stream fails, so that it does not look complete", arguments: [nil, 65_537])
    func brokenStream(byteCount: Int?) async throws {
        try await withTaskServer(answer: { _, _ in
            (OutboundResponse(status: .ok), Self.half(of: byteCount))
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.get)
            let answer = try await client.rest()
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(answer.hasSuffix(byteCount == nil ? "\r\n\r\n4\r\nhalf\r\n" : "\r\n\r\nhalf"))
        }
    }

    @Test("sends a streamed body as soon as it is finished, before the task ends", arguments: [4, 65_536, 65_537])
    func finished(byteCount: Int) async throws {
        let door = Door()
        try await withTaskServer(answer: { _, _ in
            let body = StreamedBody(byteCount: byteCount) { writer in
                try await writer.write(ByteBuffer(string: "ab"))
                try await writer.write(ByteBuffer(repeating: 0x63, count: byteCount - 2))
                writer.finish()
                await door.pass()
            }
            return (OutboundResponse(status: .created, headers: [.contentType: "x/y"]), body)
        }) { server in
            let client = try await RawClient.connect(server.port)
            for _ in 1...2 {
                try await client.send(Self.get)
                let answer = try await client.answer()
                #expect(answer.status == 201 && answer.headers["content-type"] == "x/y")
                #expect(answer.body == "ab" + String(repeating: "c", count: byteCount - 2))
            }
            #expect(server.statistics.tasksRunning == 2)
            door.open()
        }
    }

    @Test("sends nothing of a body up to 64 KiB before its end, so that its failure is answered with a problem")
    func brokenSmallBody() async throws {
        try await withTaskServer(answer: { _, _ in
            (OutboundResponse(status: .ok), Self.half(of: 65_536))
        }) { server in
            let client = try await RawClient.connect(server.port)
            for _ in 1...2 {
                try await client.send(Self.get)
                let answer = try await client.answer()
                #expect(answer.status == 500 && answer.body == "Fault()")
            }
        }
    }

    // MARK: The end of a task

    @Test("is cancelled at the end of a drain, which waits for the task")
    func drained() async throws {
        let entered = Collected<Void>()
        let hasEnded = Atomic(false)
        try await withTaskServer(answer: { _, _ in
            entered.add(())
            try? await Task.sleep(for: .seconds(600))
            hasEnded.store(true, ordering: .releasing)
            return (text("never"), nil)
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.get)
            try await entered.next()
            #expect(server.statistics.tasksRunning == 1)
            await server.drain(deadline: .milliseconds(50))
            let taskHasEnded = hasEnded.load(ordering: .acquiring)
            #expect(taskHasEnded)
            #expect(server.statistics.tasksRunning == 0)
        }
    }

    @Test(
        "is cancelled when the client goes away: at once by a reset, after the grace by a close",
        arguments: [true, false])
    func cancels(byReset: Bool) async throws {
        let entered = Collected<Void>()
        let cancelled = Collected<Void>()
        try await withTaskServer(
            { $0.halfCloseGrace = byReset ? .seconds(600) : .milliseconds(50) },
            answer: { _, _ in
                await withTaskCancellationHandler {
                    entered.add(())
                    try? await Task.sleep(for: .seconds(600))
                } onCancel: {
                    cancelled.add(())
                }
                return (text("never"), nil)
            }
        ) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.get)
            try await entered.next()
            if byReset { try await client.reset() } else { try await client.close() }
            try await cancelled.next()
            try await eventually("no task runs") { server.statistics.tasksRunning == 0 }
        }
    }

    @Test("renders no problem for a client that is gone")
    func gone() async throws {
        let entered = Collected<Reply>()
        let door = Door()
        let problemCount = Atomic(0)
        try await withServer(handler: { request, reply in
            reply.answer(request) {
                entered.add(reply)
                await door.pass()
                throw Fault()
            } problem: { _ in
                problemCount.add(1, ordering: .relaxed)
                return OutboundResponse(status: .internalServerError)
            }
        }) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.get)
            let reply = try await entered.next()
            try await client.reset()
            try await eventually("the client is gone") { reply.isClientGone }
            door.open()
            try await eventually("no task runs") { server.statistics.tasksRunning == 0 }
            #expect(problemCount.load(ordering: .relaxed) == 0)
        }
    }
}
