// The forms of `SmugglingShapes`, sent to a server that streams every body.

import NIOCore
import Testing

@testable import Transport

@Suite("Where a streamed request ends", .timeLimit(.minutes(1)))
struct SmugglingInUploads {
    private static let second = "GET /second HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test("if it could end in two places, nothing after it is served", arguments: SmugglingShapes.unclearShapes)
    func unclear(request: String) async throws {
        try await withUploadServer { server in
            for isWhole in [true, false] {
                let client = try await RawClient.connect(server.port)
                if isWhole {
                    try await client.send(request + Self.second)
                } else {
                    try await client.sendBytewise(request + Self.second)
                }
                let answer = try await client.rest()
                #expect([" 400 ", " 501 ", " 505 "].contains { answer.prefix(13).contains($0) }, "\(answer)")
                #expect(!answer.contains("/second"))
                #expect(answer.ranges(of: "HTTP/1.1 ").count == 1, "\(answer)")
            }
        }
    }

    @Test("if it is clear, it is served, and so is what follows it", arguments: SmugglingShapes.clearShapes)
    func clear(request: String, body: String) async throws {
        try await withUploadServer { server in
            let client = try await RawClient.connect(server.port)
            try await client.sendBytewise(request + Self.second)
            let first = try await client.answer().body
            #expect(first.contains(" /first ") && first.hasSuffix(" " + body), "\(first)")
            #expect(try await client.answer().body == "GET /second ")
        }
    }
}

extension RawClient {
    /// Sends byte by byte, so that nothing is seen at once. Stops when the server has closed.
    fileprivate func sendBytewise(_ text: String) async throws {
        for byte in text.utf8 {
            do { try await send(bytes: ByteBuffer(bytes: [byte])) } catch { return }
        }
    }
}
