// Large answers of known length: written by a task piece by piece, at the pace of the client.

import NIOCore
import Synchronization
import Testing

@testable import Transport

@Suite("A download", .timeLimit(.minutes(1)))
struct Downloads {
    private static let piece = ByteBuffer(repeating: 0x61, count: 256 * 1024)

    /// What the route of a download has done.
    private final class Progress: Sendable {
        let readerCount = Atomic(0)
        let pieceCount = Atomic(0)
        let hasFailed = Door()
    }

    /// Serves `/file/{count}`: so many pieces of 256 KiB, ready at any time. `/ping` has a short answer.
    private func withFiles(
        _ change: (inout TransportSettings) -> Void = { _ in },
        _ body: (HTTPServer, Progress) async throws -> Void
    ) async throws {
        let progress = Progress()
        try await withTaskServer(
            change,
            answer: { request, _ in
                if request.path == "/ping" { return (text("pong"), nil) }
                let count = try #require(Int(request.path.dropFirst("/file/".count)))
                let file = StreamedBody(byteCount: count * Self.piece.readableBytes) { writer in
                    progress.readerCount.add(1, ordering: .relaxed)
                    do {
                        for _ in 0..<count {
                            try await writer.write(Self.piece)
                            progress.pieceCount.add(1, ordering: .relaxed)
                        }
                    } catch {
                        progress.hasFailed.open()
                        throw error
                    }
                }
                return (OutboundResponse(status: .ok), file)
            }
        ) { try await body($0, progress) }
    }

    private static func get(_ pieceCount: Int, method: String = "GET") -> String {
        "\(method) /file/\(pieceCount) HTTP/1.1\r\nHost: x\r\n\r\n"
    }

    @Test("has its length, and HEAD gets the length without reading the file")
    func head() async throws {
        try await withFiles { server, progress in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.get(10_000, method: "HEAD"))
            let head = try await client.answer(toHead: true)
            #expect(head.headers["content-length"] == "2621440000" && head.headers["transfer-encoding"] == nil)
            try await client.send(Self.get(4))
            let answer = try await client.answer()
            #expect(answer.headers["content-length"] == "1048576" && answer.body.utf8.count == 1_048_576)
            let readerCount = progress.readerCount.load(ordering: .relaxed)
            #expect(readerCount == 1)
        }
    }

    @Test("waits for a client that reads nothing, with one piece in memory, until the client is cut off")
    func stalled() async throws {
        try await withFiles({ $0.writeTimeout = .milliseconds(300) }) { server, progress in
            let client = try await RawClient.connect(server.port, readsByItself: false)
            try await client.send(Self.get(10_000))
            await progress.hasFailed.pass()
            // The content of the kernels' buffers, and one piece. The rest of the 2.6 GB was not asked for.
            let pieceCount = progress.pieceCount.load(ordering: .relaxed)
            #expect(pieceCount < 200, "\(pieceCount)")
            #expect(server.statistics.timeouts == 1)
            try await client.close()
        }
    }

    @Test("leaves room for other requests of its event loop")
    func fair() async throws {
        try await withFiles({ $0.threadCount = 1 }) { server, progress in
            let reader = try await RawClient.connect(server.port)
            try await reader.send(Self.get(400))
            let client = try await RawClient.connect(server.port)
            var answersBefore = 0
            while progress.pieceCount.load(ordering: .relaxed) < 400 {
                try await client.send("GET /ping HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(try await client.answer().body == "pong")
                answersBefore += 1
            }
            #expect(answersBefore > 1)
            try await reader.close()
        }
    }
}
