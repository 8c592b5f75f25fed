// Bodies that are not JSON, unusual JSON, or too much JSON.
import Foundation
import NIOCore
import Testing

@Suite("An unreadable body", .timeLimit(.minutes(1)))
struct UnreadableBodies {
    private let stage: ProblemStage

    init() async throws { stage = try await ProblemStage() }

    private func message(
        _ body: String, _ statuses: Set<Int>, sourceLocation: SourceLocation = #_sourceLocation
    ) -> BadRequest {
        BadRequest("POST", stage.messages, statuses, as: stage.ann, body, sourceLocation: sourceLocation)
    }

    /// Every call reads its body in the same way. Two calls stand for all: one with fields, one with a payload.
    @Test("is malformed when it is not JSON, whatever the mistake")
    func notJSON() async throws {
        // One for each reason why ReadingJSON (ParleyFormatsTests) refuses a text.
        let texts = [
            "", "nonsense", #"{"payload": {"text": "hi"}"#, #"{"payload": {"text": "hi"}} {}"#, "\u{feff}{}",
            "{\"payload\": {\"text\": \"\u{0}\"}}", #"{"\u0000":1}"#, #"{"name":"\ud800"}"#,
            #"{"name":"Ann","n\u0061me":"Bob"}"#, String(repeating: "[", count: 60_000),
            #"{"a":"# + String(repeating: "[", count: 33),
        ]
        let utf16 = try #require(#"{"payload": {"text": "hi"}}"#.data(using: .utf16LittleEndian))
        let others = [Array(#"{"payload": {"text": ""#.utf8) + [0xed, 0xa0, 0x80] + Array(#""}}"#.utf8), Array(utf16)]
        try await BadRequest.expect(
            (texts.map { Array($0.utf8) } + others).flatMap { bytes in
                [("POST", stage.messages), ("PATCH", "/v1/users/me")].map { method, path in
                    BadRequest(method, path, [400], code: "malformed_json", as: stage.ann, bytes: bytes)
                }
            })
    }

    @Test("is refused when a text holds NUL or half a surrogate pair, which PostgreSQL cannot store")
    func unstorable() async throws {
        let requests = [#"a\u0000b"#, #"\ud83dx"#].flatMap { escape in
            [
                #"{"payload": {"text": "\#(escape)"}}"#, #"{"type": "x-note", "payload": {"note": ["\#(escape)"]}}"#,
                #"{"type": "x-note", "payload": {"\#(escape)": 1}}"#, #"{"type": "x-\#(escape)", "payload": {}}"#,
            ].map { message($0, [400, 422]) } + [
                BadRequest(
                    "POST", "/v1/auth/register", [400, 422],
                    #"{"username": "zoe.unstorable", "password": "correct horse", "name": "Z\#(escape)"}"#),
                BadRequest(
                    "POST", "/v1/threads", [400, 422], as: stage.ann,
                    #"{"kind": "group", "title": "T\#(escape)", "members": []}"#),
            ]
        }
        try await BadRequest.expect(requests)
    }

    @Test("is refused when it is not an object")
    func noObject() async throws {
        let bodies = ["[]", "null", "true", "1", "\"text\"", "[{\"payload\": {\"text\": \"hi\"}}]"]
        try await BadRequest.expect(bodies.map { message($0, [400, 422]) })
    }

    @Test("is refused when it is too large, also in chunks")
    func size() async throws {
        let large = Array(repeating: UInt8(ascii: " "), count: 3 << 20)
        try await BadRequest("POST", "/v1/auth/login", [413], code: "body_too_large", bytes: large).expect()
        let refused = try await stage.ann.client.exchange(chunked(large))
        #expect(refused.status == 413 && refused.problemCode == "body_too_large", "\(refused.text)")
        let accepted = try await stage.ann.client.exchange(chunked(Array(#"{"payload": {"text": "hi"}}"#.utf8)))
        #expect(accepted.status == 201, "\(accepted.text)")
    }

    /// A send whose body has no declared length.
    private func chunked(_ body: [UInt8]) -> ByteBuffer {
        var request = ByteBuffer(
            string: "POST \(stage.messages) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                + "Authorization: Bearer \(stage.ann.client.token ?? "")\r\nContent-Type: application/json\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n\(String(body.count, radix: 16))\r\n")
        request.writeBytes(body)
        request.writeString("\r\n0\r\n\r\n")
        return request
    }
}
