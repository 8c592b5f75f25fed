// A server that streams every body to a task of the test, and what such a task reads.

import HTTPTypes
import NIOCore
import Synchronization

@testable import Transport

/// Binds a server that streams bodies, runs `body`, drains. `consume` answers each request.
func withUploadServer(
    _ change: (inout TransportSettings) -> Void = { _ in }, byteCountMax: Int = 1 << 40,
    consume: @escaping @Sendable (InboundRequest, Reply) async -> Void = { await answerReceived($0, $1) },
    _ body: (HTTPServer) async throws -> Void
) async throws {
    try await withServer(
        change, handler: { request, reply in Task { await consume(request, reply) } },
        decide: { _ in .stream(byteCountMax: byteCountMax) }, body)
}

/// A body as its handler received it, and how it ended.
struct Received: Sendable {
    var bytes = ByteBuffer()
    var error: RequestBodyError?

    /// Reads the whole body.
    /// - Parameters:
    ///   - pause: called once, after the first piece of a stream.
    ///   - each: called with each piece of a stream.
    init(
        _ request: InboundRequest, pause: (RequestBodyStream) async -> Void = { _ in },
        each: (ByteBuffer) -> Void = { _ in }
    ) async {
        bytes = request.body
        guard let stream = request.bodyStream else { return }
        do {
            var isFirst = true
            for try await piece in stream {
                bytes.writeImmutableBuffer(piece)
                each(piece)
                if isFirst { await pause(stream) }
                isFirst = false
            }
        } catch {
            self.error = error as? RequestBodyError
        }
    }
}

/// Reads the body, and answers with method, target and body, or with 400 and the error.
@Sendable func answerReceived(_ request: InboundRequest, _ reply: Reply) async {
    let received = await Received(request)
    let text = received.error.map { "\($0)" } ?? String(buffer: received.bytes)
    reply.send(
        OutboundResponse(
            status: received.error == nil ? .ok : .badRequest,
            body: ByteBuffer(string: "\(request.method) \(request.target) \(text)")))
}

/// A door that a test opens for the tasks that wait for it.
final class Door: Sendable {
    private let state = Mutex<(isOpen: Bool, waiters: [CheckedContinuation<Void, Never>])>((false, []))

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    var isOpen: Bool { state.withLock { $0.isOpen } }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}

/// Bytes that show it if a part of them is missing or in another place.
func pattern(_ byteCount: Int) -> ByteBuffer {
    // Repeats after a prime number of bytes, which no buffer has.
    let block = ByteBuffer(bytes: (0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 16) })
    var bytes = ByteBuffer()
    bytes.reserveCapacity(byteCount + block.readableBytes)
    while bytes.readableBytes < byteCount { bytes.writeImmutableBuffer(block) }
    return bytes.getSlice(at: 0, length: byteCount) ?? ByteBuffer()
}
