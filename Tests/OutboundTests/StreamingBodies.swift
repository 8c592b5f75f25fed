// Requests with streamed bodies, on the test's own sockets: each test decides byte by byte what the server does.
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Outbound

/// A server for one connection at a time, on a thread.
private final class OneServer: Sendable {
    let port: Int
    private let listener: Int32

    init(connectionCount: Int = 1, _ serve: @escaping @Sendable (Int32) -> Void) throws {
        let (listener, port) = try Sockets.listener()
        (self.listener, self.port) = (listener, port)
        Thread.detachNewThread {
            for _ in 0..<connectionCount {
                let socket = accept(listener, nil, nil)
                guard socket >= 0 else { return }
                serve(socket)
                close(socket)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    var url: String { "http://127.0.0.1:\(port)/key" }
}

/// Reads to the end of the headers, and returns them.
private func readHead(_ socket: Int32) -> String {
    var text = ""
    var byte: UInt8 = 0
    while !text.hasSuffix("\r\n\r\n"), recv(socket, &byte, 1, 0) == 1 { text.append(Character(Unicode.Scalar(byte))) }
    return text
}

/// Reads `count` bytes at most; fewer at the connection's end.
private func readBody(_ socket: Int32, _ count: Int) -> Int {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var total = 0
    while total < count {
        let part = recv(socket, &buffer, min(buffer.count, count - total), 0)
        guard part > 0 else { break }
        total += part
    }
    return total
}

private func write(_ text: String, to socket: Int32) { _ = write([UInt8](text.utf8), to: socket) }

/// Returns how many bytes were accepted before the connection's end.
private func write(_ bytes: [UInt8], to socket: Int32) -> Int {
    var sent = 0
    while sent < bytes.count {
        let count = bytes[sent...].withUnsafeBytes {
            send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else { break }
        sent += count
    }
    return sent
}

@Suite("Streaming bodies", .timeLimit(.minutes(1)))
struct StreamingBodies {
    private static let pieceByteCount = 256 << 10
    private let client: Outbound

    init() throws { client = try Outbound() }

    private func put(_ url: String, byteCount: Int, _ body: () async throws -> [UInt8]?) async throws -> TransferAnswer
    {
        var exchange = StreamedExchange(.put, url: url, headers: [("content-type", "a/b")])
        exchange.bodyByteCount = byteCount
        return try await client.perform(exchange, body: body)
    }

    private func failure(_ body: () async throws -> Void) async -> TransferFailure? {
        do {
            try await body()
            return nil
        } catch {
            return error as? TransferFailure
        }
    }

    /// Returns a count that no longer grows while the client's thread serves 100 other requests.
    private func settled(_ count: Tally) async throws -> Int {
        let other = try OneServer(connectionCount: .max) { socket in
            _ = readHead(socket)
            write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", to: socket)
        }
        try await eventually("the body begins") { count.value > 0 }
        while true {
            let before = count.value
            for _ in 0..<100 { _ = try await client.perform(StreamedExchange(.get, url: other.url)) }
            if count.value == before { return before }
        }
    }

    @Test("sends each method with its headers and no others, and returns answers without a body as such")
    func methods() async throws {
        let heads = Mutex<[String]>([])
        let server = try OneServer(connectionCount: 4) { socket in
            let head = readHead(socket)
            heads.withLock { $0.append(head) }
            let length = head.hasPrefix("HEAD") ? 1_000 : 0
            write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(length)\r\nX-A: b\r\n\r\n", to: socket)
        }
        for method in [StreamedExchange.Method.get, .head, .put, .delete] {
            let answer = try await client.perform(
                StreamedExchange(method, url: server.url, headers: [("range", "bytes=5-9")]))
            #expect(answer.status == 200 && answer.headers["x-a"] == "b" && answer.body.isEmpty)
        }
        let seen = heads.withLock { $0 }
        for (method, head) in zip(["GET", "HEAD", "PUT", "DELETE"], seen) {
            #expect(head.hasPrefix("\(method) /key HTTP/1.1\r\n") && head.contains("range: bytes=5-9\r\n"))
            #expect(!head.lowercased().contains("expect:") && !head.lowercased().contains("transfer-encoding"))
            #expect(head.lowercased().contains("content-length: 0") == (method == "PUT"))
        }
    }

    @Test("reads the source no faster than the server reads the body")
    func slowServer() async throws {
        let byteCount = 64 << 20
        let (made, mayRead) = (Tally(), DispatchSemaphore(value: 0))
        let server = try OneServer { socket in
            _ = readHead(socket)
            mayRead.wait()
            let count = readBody(socket, byteCount)
            write("HTTP/1.1 200 OK\r\nContent-Length: \(String(count).count)\r\n\r\n\(count)", to: socket)
        }
        async let answer = put(server.url, byteCount: byteCount) {
            made.add(Self.pieceByteCount)
            return [UInt8](repeating: 7, count: Self.pieceByteCount)
        }
        // The kernel's buffers fill, then the source is asked no more.
        #expect(try await settled(made) < 16 << 20)
        mayRead.signal()
        #expect(try await answer.body == Array("\(byteCount)".utf8))
        #expect(made.value == byteCount)
    }

    @Test("stops a server that sends faster than the task reads, and loses nothing")
    func slowConsumer() async throws {
        let byteCount = 64 << 20
        let sent = Tally()
        let server = try OneServer { socket in
            _ = readHead(socket)
            write("HTTP/1.1 206 Partial Content\r\nContent-Length: \(byteCount)\r\n\r\n", to: socket)
            for number in 0..<(byteCount / 65_536) {
                sent.add(write([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 65_536), to: socket))
            }
        }
        var exchange = StreamedExchange(.get, url: server.url)
        exchange.streamedStatus = 206
        var (received, isRight) = (0, true)
        let answer = try await client.perform(
            exchange,
            receive: { piece in
                #expect(piece.count <= Self.pieceByteCount)
                if received == 0 {
                    let sentCount = try await settled(sent)
                    #expect(sentCount < 16 << 20)
                }
                var rest = piece[...]
                while !rest.isEmpty {
                    let block = rest.prefix(65_536 - received % 65_536)
                    let byte = UInt8(truncatingIfNeeded: received >> 16)
                    isRight = isRight && Array(block) == [UInt8](repeating: byte, count: block.count)
                    received += block.count
                    rest = rest[block.endIndex...]
                }
            })
        #expect(answer.status == 206 && answer.body.isEmpty && received == byteCount && isRight)
    }

    @Test("returns an answer that comes before the body was read, and asks for no more of the body")
    func early() async throws {
        let server = try OneServer { socket in
            _ = readHead(socket)
            write("HTTP/1.1 503 Slow Down\r\nContent-Length: 4\r\nConnection: close\r\n\r\nlate", to: socket)
            // The test ends without waiting for the rest.
            _ = readBody(socket, 1 << 20)
        }
        let made = Tally()
        let answer = try await put(server.url, byteCount: 1 << 30) {
            made.add(Self.pieceByteCount)
            return [UInt8](repeating: 7, count: Self.pieceByteCount)
        }
        #expect(answer.status == 503 && answer.body == Array("late".utf8))
        #expect(made.value < 64 << 20)
    }

    @Test("fails when the connection breaks off half-way in either direction")
    func broken() async throws {
        let reader = try OneServer { socket in
            _ = readHead(socket)
            _ = readBody(socket, 1 << 20)
        }
        let upload = await failure {
            _ = try await put(reader.url, byteCount: 16 << 20) { [UInt8](repeating: 7, count: Self.pieceByteCount) }
        }
        if case .failed = upload {} else { Issue.record("\(String(describing: upload))") }
        let writer = try OneServer { socket in
            _ = readHead(socket)
            write("HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n", to: socket)
            _ = write([UInt8](repeating: 1, count: 1_000_000), to: socket)
        }
        var exchange = StreamedExchange(.get, url: writer.url)
        exchange.streamedStatus = 200
        var received = 0
        let download = await failure { _ = try await client.perform(exchange, receive: { received += $0.count }) }
        if case .failed = download {} else { Issue.record("\(String(describing: download))") }
        #expect(received == 1_000_000)
    }

    @Test("collects an answer of another status than the streamed one, up to the limit")
    func otherStatus() async throws {
        let server = try OneServer(connectionCount: 2) { socket in
            let length = readHead(socket).contains("/key2") ? 100_000 : 9
            write("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: \(length)\r\n\r\n", to: socket)
            _ = write([UInt8](repeating: 0x61, count: length), to: socket)
        }
        var exchange = StreamedExchange(.get, url: server.url)
        exchange.streamedStatus = 200
        let answer = try await client.perform(exchange, receive: { _ in Issue.record("it is streamed") })
        #expect(answer.status == 404 && answer.body.count == 9)
        exchange.url += "2"
        #expect(await failure { _ = try await client.perform(exchange) } == .failed(reason: "the answer is too large"))
    }

    @Test("closes the connection when the task is cancelled, or when its closure throws")
    func cancelled() async throws {
        struct Enough: Error {}
        let (heads, ends) = (Tally(), Tally())
        let server = try OneServer(connectionCount: 3) { socket in
            let head = readHead(socket)
            heads.add(1)
            if head.hasPrefix("GET") {
                write("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n", to: socket)
                _ = write([UInt8](repeating: 1, count: 300_000), to: socket)
            }
            // Returns when the client closes the connection.
            _ = readBody(socket, .max)
            ends.add(1)
        }
        var exchange = StreamedExchange(.get, url: server.url)
        exchange.streamedStatus = 200
        await #expect(throws: Enough.self) { try await client.perform(exchange, receive: { _ in throw Enough() }) }
        var count = 0
        await #expect(throws: Enough.self) {
            try await put(server.url, byteCount: 100) {
                count += 1
                guard count == 2 else { return [1] }
                try await eventually("the upload's head") { heads.value == 2 }
                throw Enough()
            }
        }
        let pieces = Tally()
        let hanging = Task { [client, exchange] in
            try await client.perform(
                exchange,
                receive: { _ in
                    pieces.add(1)
                    try await Task.sleep(for: .seconds(86_400))
                })
        }
        try await eventually("the download's first piece") { pieces.value == 1 }
        hanging.cancel()
        await #expect(throws: CancellationError.self) { try await hanging.value }
        try await eventually("three closed connections") { ends.value == 3 }
    }

    @Test("gives up on a server that is slower than the pace, but waits for its own task")
    func pace() async throws {
        let server = try OneServer(connectionCount: 3) { socket in
            let head = readHead(socket)
            if head.hasPrefix("PUT") {
                _ = readBody(socket, 2 * 1_000)
                return write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", to: socket)
            }
            write("HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\n", to: socket)
            for _ in 0..<(head.contains("/key2") ? 40 : 1) {
                _ = write([UInt8](repeating: 1, count: 100), to: socket)
                Thread.sleep(forTimeInterval: 0.05)
            }
            _ = readBody(socket, .max)
        }
        var exchange = StreamedExchange(.get, url: server.url)
        exchange.streamedStatus = 200
        exchange.pace.window = .milliseconds(400)
        exchange.pace.byteCountMin = 4_000
        #expect(await failure { _ = try await client.perform(exchange) } == .timedOut)
        // 100 bytes every 50 ms are too slow, too.
        exchange.url += "2"
        #expect(await failure { _ = try await client.perform(exchange) } == .timedOut)
        var upload = StreamedExchange(.put, url: server.url)
        // Wider than for the slow servers: a busy machine must not make this one look slow.
        upload.pace.window = .seconds(2)
        upload.pace.byteCountMin = 4_000
        upload.bodyByteCount = 2_000
        let answer = try await client.perform(upload) {
            try await Task.sleep(for: .milliseconds(2_500))
            return [UInt8](repeating: 1, count: 1_000)
        }
        #expect(answer.status == 200)
    }

    @Test("fails all streams when the client is closed")
    func closes() async throws {
        let heads = Tally()
        let server = try OneServer { socket in
            _ = readHead(socket)
            heads.add(1)
            _ = readBody(socket, .max)
        }
        async let failure = failure { _ = try await client.perform(StreamedExchange(.get, url: server.url)) }
        try await eventually("the request's head") { heads.value == 1 }
        client.close(within: .zero)
        #expect(await failure == .closed)
        #expect(await self.failure { _ = try await client.perform(StreamedExchange(.get, url: server.url)) } == .closed)
    }
}
