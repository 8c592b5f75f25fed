// Headers that once cost an event loop half a second, sent by unauthenticated clients while others send messages.

import Basics
import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Hostile headers", .timeLimit(.minutes(2)))
    struct HostileHeaders {
        /// A well-formed session token of no session: `parley_`, 32 bytes and their CRC-32.
        static let madeUpToken: String = {
            let bytes = (0..<32).map { _ in UInt8.random(in: 0...255) }
            return "parley_" + Base64.urlSafe.encode(bytes + CRC32.bytes(of: bytes))
        }()

        /// A header of some 30 KB that repeats one piece.
        struct Hostile: CustomTestStringConvertible, Sendable {
            let name: String
            let start: String
            let piece: String
            let count: Int

            var value: String { start + String(repeating: piece, count: count) }
            var testDescription: String { "\(name): \(start)\(piece) × \(count)" }
        }

        @Test(
            "delay no other request",
            arguments: [
                Hostile(name: "Accept", start: "text/event-stream", piece: ";a", count: 15_000),
                Hostile(name: "Accept", start: "", piece: "text/event-stream;q=0,", count: 1_380),
                Hostile(name: "Prefer", start: "", piece: "wait=,", count: 5_000),
            ])
        func attack(header: Hostile) async throws {
            let nodes = try await TestNodes.shared()
            let others = try await OtherUsers.join(nodes.a)
            let token = Self.madeUpToken
            let value = header.value
            let notice = try await others.notice(connectionCount: 4, seconds: 1) { connection, _ in
                var request = Request("GET", "/v1/sync?wait=0")
                request.headers = [("Authorization", "Bearer \(token)"), (header.name, value)]
                let answer = try await connection.send(request)
                #expect(answer.status == 401, "\(answer)")
            }
            // The ratio was some 300 before the fix.
            notice.expect(header.testDescription, ratioMax: 30)
        }
    }
}
