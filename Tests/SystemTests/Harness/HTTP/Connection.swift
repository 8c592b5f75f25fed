// One TCP connection to a node: kept alive over many requests, and able to send bytes that no HTTP client would.

import Dispatch
import Foundation
import Synchronization
import TestSupport

/// Connects when first used, and again once the node has closed. Its calls follow one another in the order made.
///
/// SAFETY: all mutable state is touched on `queue` only, which is serial, except `interruptible`, which has a lock.
final class Connection: Caller, @unchecked Sendable {
    enum Failure: Error, Equatable {
        case notConnected(Int32)
        case broken(Int32)
        /// The node closed the connection before the end of an answer.
        case closed
        case timedOut
        case notHTTP(String)
    }

    let address: Address
    private let queue = DispatchQueue(label: "connection")
    private var descriptor: Int32 = -1 {
        didSet { interruptible.withLock { $0 = descriptor } }
    }
    /// A copy of the descriptor for `interrupt`, -1 before it is closed.
    private let interruptible = Mutex<Int32>(-1)
    private var buffer = Data()
    /// Bytes of a stream's body that were received and not read yet.
    private var streamed = Data()

    init(_ address: Address) {
        self.address = address
    }

    deinit {
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    func send(_ request: Request) async throws -> Answer {
        try await run { connection in
            let deadline = ContinuousClock.now + request.waitMax
            try connection.write(connection.bytes(of: request), until: deadline)
            return try connection.readAnswer(toHead: request.method == "HEAD", until: deadline)
        }
    }

    /// Sends a request, or bytes; `receive` reads the answer.
    func begin(_ request: Request) async throws {
        try await run { try $0.write($0.bytes(of: request), until: .now + request.waitMax) }
    }

    func write(_ bytes: Data, within limit: Duration = .seconds(30)) async throws {
        try await run { try $0.write(bytes, until: .now + limit) }
    }

    func receive(within limit: Duration = .seconds(30)) async throws -> Answer {
        try await run { try $0.readAnswer(toHead: false, until: .now + limit) }
    }

    /// Sends a request whose answer is a stream, and reads the head; of a refusal, the whole answer.
    func open(_ request: Request) async throws -> Answer {
        try await run { connection in
            let deadline = ContinuousClock.now + request.waitMax
            connection.disconnect()
            try connection.write(connection.bytes(of: request), until: deadline)
            let head = try connection.readHead(until: deadline)
            connection.streamed = Data()
            guard head.headers["transfer-encoding"] != "chunked" else { return head }
            return try connection.readBody(of: head, toHead: false, until: deadline)
        }
    }

    /// Returns the next lines of a stream up to an empty line; nil at its end.
    func nextBlock(within limit: Duration) async throws -> String? {
        try await run { connection in
            let deadline = ContinuousClock.now + limit
            while true {
                if let end = connection.streamed.range(of: Data("\n\n".utf8)) {
                    let block = String(decoding: connection.streamed[..<end.lowerBound], as: UTF8.self)
                    connection.streamed = Data(connection.streamed[end.upperBound...])
                    return block
                }
                guard try connection.readChunk(until: deadline) else { return nil }
            }
        }
    }

    /// Waits until the node closes; true if no further byte was received.
    func receiveEnd(within limit: Duration = .seconds(30)) async throws -> Bool {
        try await run { connection in
            while try connection.readMore(until: .now + limit) {}
            return connection.buffer.isEmpty
        }
    }

    func close() async {
        try? await run { $0.disconnect() }
    }

    /// Ends the call under way at once. From any thread.
    func interrupt() {
        interruptible.withLock { if $0 >= 0 { _ = shutdown($0, Int32(SHUT_RDWR)) } }
    }

    /// Closes with RST instead of FIN: the node also loses bytes that it has not read yet.
    func reset() async {
        try? await run { connection in
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(connection.descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
            connection.disconnect()
        }
    }

    /// Sends FIN, and can still receive.
    func endWriting() async {
        try? await run { _ = shutdown($0.descriptor, Int32(SHUT_WR)) }
    }

    private func run<Value: Sendable>(_ body: @escaping @Sendable (Connection) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(
                    with: Result {
                        do {
                            return try body(self)
                        } catch {
                            self.disconnect()
                            throw error
                        }
                    })
            }
        }
    }

    private func bytes(of request: Request) -> Data {
        var text = "\(request.method) \(request.path) HTTP/1.1\r\nHost: \(address.host):\(address.port)\r\n"
        for header in request.headers { text += "\(header.name): \(header.value)\r\n" }
        if let body = request.body { text += "Content-Length: \(body.count)\r\n" }
        return Data((text + "\r\n").utf8) + (request.body ?? Data())
    }

    // MARK: On the queue

    private func connect() throws {
        buffer = Data()
        guard let connected = Sockets.connect(.tcp(address.port)) else { throw Failure.notConnected(errno) }
        descriptor = connected
    }

    private func disconnect() {
        let former = descriptor
        descriptor = -1
        if former >= 0 { Glibc.close(former) }
        buffer = Data()
    }

    private func wait(for events: Int32, until deadline: ContinuousClock.Instant) throws {
        while true {
            let left = max(.zero, ContinuousClock.now.duration(to: deadline))
            var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            let count = poll(&entry, 1, Int32(left.seconds * 1_000) + 1)
            if count > 0 { return }
            if count < 0 && errno != EINTR { throw Failure.broken(errno) }
            if count == 0 && left == .zero { throw Failure.timedOut }
        }
    }

    private func write(_ bytes: Data, until deadline: ContinuousClock.Instant) throws {
        if descriptor < 0 { try connect() }
        var rest = bytes[...]
        while !rest.isEmpty {
            try wait(for: POLLOUT, until: deadline)
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if count < 0 {
                if errno == EAGAIN || errno == EINTR { continue }
                throw Failure.broken(errno)
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Returns false when the node has closed its side.
    private func readMore(until deadline: ContinuousClock.Instant) throws -> Bool {
        if descriptor < 0 { try connect() }
        try wait(for: POLLIN, until: deadline)
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &chunk, chunk.count, Int32(MSG_DONTWAIT))
        if count < 0 {
            if errno == EAGAIN || errno == EINTR { return true }
            throw Failure.broken(errno)
        }
        buffer.append(contentsOf: chunk[..<count])
        return count > 0
    }

    private func readAnswer(toHead: Bool, until deadline: ContinuousClock.Instant) throws -> Answer {
        try readBody(of: try readHead(until: deadline), toHead: toHead, until: deadline)
    }

    /// False for the chunk that ends a body.
    private func readChunk(until deadline: ContinuousClock.Instant) throws -> Bool {
        while true {
            if let lineEnd = buffer.range(of: Data("\r\n".utf8)) {
                guard let size = Int(String(decoding: buffer[..<lineEnd.lowerBound], as: UTF8.self), radix: 16) else {
                    throw Failure.notHTTP("a chunk's size")
                }
                let start = lineEnd.upperBound
                if buffer.endIndex - start >= size + 2 {
                    streamed += buffer[start..<start + size]
                    buffer = Data(buffer[(start + size + 2)...])
                    return size > 0
                }
            }
            guard try readMore(until: deadline) else { throw Failure.closed }
        }
    }

    /// Removes an interim answer (1xx) from the buffer; returns false if it does not begin with a whole one.
    private func skipInterim() -> Bool {
        guard let end = buffer.range(of: Data("\r\n\r\n".utf8)),
            let head = Answer.head(String(decoding: buffer[..<end.lowerBound], as: UTF8.self)), head.status < 200
        else { return false }
        buffer = Data(buffer[end.upperBound...])
        return true
    }

    /// The head of an answer, without a body.
    private func readHead(until deadline: ContinuousClock.Instant) throws -> Answer {
        while true {
            if skipInterim() { continue }
            if let end = buffer.range(of: Data("\r\n\r\n".utf8)) {
                let text = String(decoding: buffer[..<end.lowerBound], as: UTF8.self)
                guard let head = Answer.head(text) else { throw Failure.notHTTP(text) }
                buffer = Data(buffer[end.upperBound...])
                return Answer(status: head.status, headers: head.headers, body: Data())
            }
            guard try readMore(until: deadline) else { throw Failure.closed }
        }
    }

    private func readBody(
        of head: Answer, toHead: Bool, until deadline: ContinuousClock.Instant
    ) throws -> Answer {
        let hasBody = !toHead && head.status != 204 && head.status != 304
        if hasBody, head.headers["transfer-encoding"] == "chunked" {
            streamed = Data()
            while try readChunk(until: deadline) {}
            defer { streamed = Data() }
            return Answer(status: head.status, headers: head.headers, body: streamed)
        }
        let length = hasBody ? head.headers["content-length"].flatMap { Int($0) } : 0
        guard let length else { throw Failure.notHTTP("no Content-Length: \(head)") }
        while buffer.count < length {
            guard try readMore(until: deadline) else { throw Failure.closed }
        }
        var answer = head
        answer.body = Data(buffer.prefix(length))
        buffer = Data(buffer.dropFirst(length))
        if head.headers["connection"]?.lowercased() == "close" { disconnect() }
        return answer
    }
}
