// Bodies that are not JSON, unusual JSON, or too much JSON.
import Foundation
import NIOCore
import Testing

@Suite("An unreadable body", .timeLimit(.minutes(1)))
struct UnreadableBodies {
    private let stage: ProblemStage

    init() async throws { stage = try await ProblemStage() }

    private func message(
        _ body: String, _ statuses: Set<Int>, code: String? = nil, mayPass: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> BadRequest {
        BadRequest(
            "POST", stage.messages, statuses, code: code, as: stage.ann, body, mayPass: mayPass,
            sourceLocation: sourceLocation)
    }

    /// Every call reads its body in the same way. Two calls stand for all: one with fields, one with a payload.
    private func malformed(_ bytes: [UInt8]) -> [BadRequest] {
        [("POST", stage.messages), ("PATCH", "/v1/users/me")].map { method, path in
            BadRequest(method, path, [400], code: "malformed_json", as: stage.ann, bytes: bytes)
        }
    }

    @Test("is malformed when it is not JSON")
    func notJSON() async throws {
        let bodies = [
            "", " ", "{", "}", "{]", "nonsense", "{\"payload\"", "{\"payload\":}", "{\"payload\": {\"text\": \"hi\"}",
            "{\"payload\": {\"text\": \"hi\"}}}", "{\"payload\": {\"text\": \"hi\"}} {}",
            "{\"payload\": {\"text\": \"hi\"},}", "{'payload': {'text': 'hi'}}", "{payload: {text: 1}}",
            "{\"payload\": {\"text\": \"a\nb\"}}", "{\"payload\": {\"text\": \"a\u{1}\"}}",
            "{\"payload\": {\"text\": \"\\x41\"}}", "{\"payload\": {\"text\": \"\\u12\"}}",
            "{\"payload\": {\"text\": \"open}}", "/* */ {\"payload\": {\"text\": \"hi\"}}",
            "{\"payload\": {\"text\": NaN}}", "{\"payload\": {\"text\": 01}}", "{\"payload\": {\"text\": +1}}",
            "{\"payload\": {\"text\": tru}}", "{\"payload\": {\"text\": .5}}", "{\"payload\": {\"text\": 1.}}",
            "{\"payload\": {\"text\": -}}", "{\"payload\": {\"text\": \"\u{0}\"}}",
            "{\"payload\": {\"text\": \"hi\"}}\u{0}", "\u{feff}{}", #"{"\u0000":1}"#, #"{"name":"\ud800"}"#,
            String(repeating: "[", count: 60_000), #"{"a":"# + String(repeating: "[", count: 33),
        ]
        try await BadRequest.expect(bodies.flatMap { malformed(Array($0.utf8)) })
    }

    @Test("is malformed when it is not UTF-8")
    func notUTF8() async throws {
        let sequences: [[UInt8]] = [
            [0xff], [0xc3], [0x80], [0xc0, 0x80], [0xc0, 0xaf], [0xe0, 0x80, 0xaf], [0xed, 0xa0, 0x80],
            [0xf4, 0x90, 0x80, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80], [0xe2, 0x82],
        ]
        var bodies: [[UInt8]] = []
        for bytes in sequences {
            bodies.append(Array(#"{"payload": {"text": ""#.utf8) + bytes + Array(#""}}"#.utf8))
            bodies.append(Array(#"{"payload": {"text": "hi"}, ""#.utf8) + bytes + Array(#"": 1}"#.utf8))
        }
        bodies.append(Array(try #require(#"{"payload": {"text": "hi"}}"#.data(using: .utf16LittleEndian))))
        try await BadRequest.expect(bodies.flatMap(malformed))
    }

    @Test("is malformed when it has the same key twice")
    func duplicateKeys() async throws {
        let bodies = [
            #"{"payload": {"text": "one"}, "payload": {"text": "two"}}"#,
            #"{"payload": {"text": "one", "text": "two"}}"#,
            #"{"payload": {"text": "one", "t\u0065xt": "two"}}"#, #"{"name":"Ann","name":"Bob"}"#,
        ]
        try await BadRequest.expect(bodies.flatMap { malformed(Array($0.utf8)) })
    }

    @Test("is refused when a text holds NUL or half a surrogate pair, which PostgreSQL cannot store")
    func unstorable() async throws {
        let escapes = [
            #"\u0000"#, #"a\u0000b"#, #"\ud800"#, #"\udc00"#, #"\udc00\ud800"#, #"\ud800\ud800"#, #"\ud83dx"#,
        ]
        let messages = escapes.flatMap { escape in
            [
                #"{"payload": {"text": "\#(escape)"}}"#, #"{"payload": {"\#(escape)": 1, "text": "hi"}}"#,
                #"{"type": "x-note", "payload": {"note": ["\#(escape)"]}}"#,
                #"{"type": "x-note", "payload": {"\#(escape)": 1}}"#, #"{"type": "x-\#(escape)", "payload": {}}"#,
            ].map { message($0, [400, 422]) }
        }
        let others = escapes.flatMap { escape in
            [
                BadRequest(
                    "POST", "/v1/auth/register", [400, 422],
                    #"{"username": "zoe.unstorable", "password": "correct horse", "name": "Z\#(escape)"}"#),
                BadRequest(
                    "POST", "/v1/threads", [400, 422], as: stage.ann,
                    #"{"kind": "group", "title": "T\#(escape)", "members": []}"#),
            ]
        }
        try await BadRequest.expect(messages + others)
        // A whole pair is an emoji like any other.
        let reply = try await stage.ann.client.post(stage.messages, #"{"payload": {"text": "\ud83d\udc4d"}}"#)
        #expect(reply.status == 201 && reply["payload.text"]?.string == "👍", "\(reply.text)")
    }

    @Test("is refused when it nests too deeply")
    func nesting() async throws {
        let requests = [1_000, 100_000, 500_000].flatMap { depth in
            let open = String(repeating: "[", count: depth)
            let close = String(repeating: "]", count: depth)
            return [
                open, open + close, String(repeating: #"{"a":"#, count: depth / 5),
                #"{"payload": "# + open + close + "}",
                #"{"type": "x-deep", "payload": {"a": "# + open + close + "}}",
            ].map { message($0, [400, 413, 422]) }
        }
        try await BadRequest.expect(requests)
    }

    @Test("is refused when a number is too large, or is where no number may")
    func numbers() async throws {
        let numbers = [
            "1e400", "-1e400", "99999999999999999999", String(repeating: "9", count: 5_000), "1.5", "-1", "1e-400",
        ]
        let requests = numbers.flatMap { number in
            [
                BadRequest("PUT", stage.receipts, [400, 422], as: stage.ann, #"{"read": \#(number)}"#),
                message(#"{"payload": {"text": \#(number)}}"#, [400, 422]),
                // A number in an app's own payload may have any size: it is stored unchanged, or refused.
                message(#"{"type": "x-big", "payload": {"n": \#(number)}}"#, [400, 422], mayPass: true),
            ]
        }
        try await BadRequest.expect(requests)
    }

    @Test("is refused when it is not an object")
    func noObject() async throws {
        let bodies = ["[]", "null", "true", "1", "\"text\"", "[{\"payload\": {\"text\": \"hi\"}}]"]
        try await BadRequest.expect(bodies.map { message($0, [400, 422]) })
    }

    @Test("is refused when it is too large, with a declared length and in chunks")
    func size() async throws {
        let large = Array(repeating: UInt8(ascii: " "), count: 3 << 20)
        try await BadRequest.expect([
            BadRequest("POST", stage.messages, [413], code: "body_too_large", as: stage.ann, bytes: large),
            BadRequest("POST", "/v1/auth/login", [413], code: "body_too_large", bytes: large),
        ])
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
