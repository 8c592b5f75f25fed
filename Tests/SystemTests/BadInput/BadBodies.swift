// Bodies that are not JSON, unusual JSON, or too much JSON.

import Foundation
import Testing

extension SystemTests {
    @Suite("An unreadable body")
    struct BadBodies {
        let stage: Stage

        init() async throws {
            stage = try await Stage.set()
        }

        private func refusal(
            _ body: String, _ statuses: Set<Int>, code: String? = nil, mayPass: Bool = false,
            sourceLocation: SourceLocation = #_sourceLocation
        ) -> Refusal {
            Refusal(
                "POST", stage.messages, statuses, code: code, as: stage.ann, raw: Data(body.utf8), mayPass: mayPass,
                sourceLocation: sourceLocation)
        }

        @Test("is refused as malformed when it is not JSON")
        func malformed() async throws {
            let bodies = [
                "", " ", "{", "}", "{]", "nonsense", "{\"payload\"", "{\"payload\":}",
                "{\"payload\": {\"text\": \"hi\"}",
                "{\"payload\": {\"text\": \"hi\"}}}", "{\"payload\": {\"text\": \"hi\"}} {}",
                "{\"payload\": {\"text\": \"hi\"},}",
                "{'payload': {'text': 'hi'}}", "{payload: {text: 1}}", "{\"payload\": {\"text\": \"a\nb\"}}",
                "{\"payload\": {\"text\": \"\\x41\"}}", "{\"payload\": {\"text\": \"\\u12\"}}",
                "{\"payload\": {\"text\": \"open}}", "/* */ {\"payload\": {\"text\": \"hi\"}}",
                "{\"payload\": {\"text\": NaN}}", "{\"payload\": {\"text\": 01}}", "{\"payload\": {\"text\": +1}}",
                "{\"payload\": {\"text\": tru}}", "{\"payload\": {\"text\": .5}}", "{\"payload\": {\"text\": 1.}}",
                "{\"payload\": {\"text\": -}}", "{\"payload\": {\"text\": \"\u{0}\"}}",
                "{\"payload\": {\"text\": \"hi\"}}\u{0}",
            ]
            try await Refusal.expect(bodies.map { refusal($0, [400], code: "malformed_json") }, from: stage.node)
        }

        @Test("is refused as malformed when it is not UTF-8")
        func notUTF8() async throws {
            let sequences: [[UInt8]] = [
                [0xff], [0xc3], [0x80], [0xc0, 0xaf], [0xe0, 0x80, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80],
                [0xf8, 0x88, 0x80, 0x80, 0x80], [0xe2, 0x82],
            ]
            let refusals = sequences.flatMap { bytes in
                let text = Data(#"{"payload": {"text": ""#.utf8) + bytes + Data(#""}}"#.utf8)
                let key = Data(#"{"payload": {"text": "hi"}, ""#.utf8) + bytes + Data(#"": 1}"#.utf8)
                return [text, key].map { Refusal("POST", stage.messages, [400], as: stage.ann, raw: $0) }
            }
            try await Refusal.expect(refusals, from: stage.node)
            let utf16 = try #require(#"{"payload": {"text": "hi"}}"#.data(using: .utf16LittleEndian))
            let refusal = Refusal("POST", stage.messages, [400], as: stage.ann, raw: utf16)
            try await Refusal.expect([refusal], from: stage.node)
        }

        @Test("is refused when a text holds NUL or half a surrogate pair, which PostgreSQL cannot store")
        func unstorable() async throws {
            let escapes = [
                #"\u0000"#, #"a\u0000b"#, #"\ud800"#, #"\udc00"#, #"\udc00\ud800"#, #"\ud800\ud800"#, #"\ud83dx"#,
            ]
            let refusals = escapes.flatMap { escape in
                [
                    #"{"payload": {"text": "\#(escape)"}}"#,
                    #"{"payload": {"\#(escape)": 1, "text": "hi"}}"#,
                    #"{"type": "x-note", "payload": {"note": ["\#(escape)"]}}"#,
                    #"{"type": "x-note", "payload": {"\#(escape)": 1}}"#,
                    #"{"type": "x-\#(escape)", "payload": {}}"#,
                ].map { refusal($0, [400, 422]) }
            }
            let names = escapes.map { escape in
                let body = #"{"username": "\#(unique("zoe"))", "password": "correct horse", "name": "Z\#(escape)"}"#
                return Refusal("POST", "/v1/auth/register", [400, 422], raw: Data(body.utf8))
            }
            let titles = escapes.map { escape in
                let body = #"{"kind": "group", "title": "T\#(escape)", "members": []}"#
                return Refusal("POST", "/v1/threads", [400, 422], as: stage.ann, raw: Data(body.utf8))
            }
            try await Refusal.expect(refusals + names + titles, from: stage.node)
            // A whole pair is an emoji like any other.
            let emoji = Refusal(
                "POST", stage.messages, [], as: stage.ann, raw: Data(#"{"payload": {"text": "\ud83d\udc4d"}}"#.utf8))
            let answer = try await stage.node.curl.send(emoji.request)
            #expect(answer.status == 201 && answer.json["payload"]["text"] == "👍", "\(answer)")
        }

        @Test("is refused when it nests too deeply")
        func nesting() async throws {
            let depths = [1_000, 100_000, 500_000]
            let refusals = depths.flatMap { depth in
                let open = String(repeating: "[", count: depth)
                let close = String(repeating: "]", count: depth)
                return [
                    open, open + close, String(repeating: #"{"a":"#, count: depth / 5),
                    #"{"payload": "# + open + close + "}",
                    #"{"type": "x-deep", "payload": {"a": "# + open + close + "}}",
                ].map { refusal($0, [400, 413, 422]) }
            }
            try await Refusal.expect(refusals, from: stage.node)
        }

        @Test("is refused when a number is too large, or stands where no number may")
        func numbers() async throws {
            let numbers = [
                "1e400", "-1e400", "99999999999999999999", String(repeating: "9", count: 5_000), "1.5", "-1", "1e-400",
            ]
            let refusals = numbers.map {
                Refusal(
                    "PUT", stage.receipts, [400, 422], as: stage.ann, raw: Data("{\"read\": \($0)}".utf8))
            }
            // A number in an app's own payload may have any size: it is stored unchanged, or refused.
            let kept = numbers.map {
                refusal(#"{"type": "x-big", "payload": {"n": \#($0)}}"#, [400, 422], mayPass: true)
            }
            let texts = numbers.map { refusal(#"{"payload": {"text": \#($0)}}"#, [400, 422]) }
            try await Refusal.expect(refusals + kept + texts, from: stage.node)
        }

        @Test("is refused when it has the same key twice")
        func duplicateKeys() async throws {
            let bodies = [
                #"{"payload": {"text": "one"}, "payload": {"text": "two"}}"#,
                #"{"payload": {"text": "one", "text": "two"}}"#,
                #"{"payload": {"text": "one", "t\u0065xt": "two"}}"#,
            ]
            try await Refusal.expect(bodies.map { refusal($0, [400, 422]) }, from: stage.node)
        }

        @Test("is refused when it is not an object")
        func noObject() async throws {
            let bodies = ["[]", "null", "true", "1", "\"text\"", "[{\"payload\": {\"text\": \"hi\"}}]"]
            try await Refusal.expect(bodies.map { refusal($0, [400, 422]) }, from: stage.node)
        }

        @Test("is refused when it has another content type or is too large")
        func typeAndSize() async throws {
            let small = Data(#"{"payload": {"text": "hi"}}"#.utf8)
            let types = [
                "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "nonsense",
            ]
            let wrong = types.map {
                Refusal(
                    "POST", stage.messages, [415], code: "unsupported_media_type", as: stage.ann, raw: small,
                    headers: [("Content-Type", $0)])
            }
            let large = Data(repeating: UInt8(ascii: " "), count: 3 << 20) + small
            let chunked: (name: String, value: String) = ("Transfer-Encoding", "chunked")
            let tooLarge = [
                Refusal("POST", stage.messages, [413], code: "body_too_large", as: stage.ann, raw: large),
                Refusal(
                    "POST", stage.messages, [413], code: "body_too_large", as: stage.ann, raw: large, headers: [chunked]
                ),
                Refusal("POST", "/v1/auth/login", [413], code: "body_too_large", raw: large),
            ]
            try await Refusal.expect(wrong + tooLarge, from: stage.node)
            let parameter = Refusal(
                "POST", stage.messages, [], as: stage.ann, raw: small,
                headers: [("Content-Type", "Application/JSON; charset=utf-8")])
            #expect(try await stage.node.curl.send(parameter.request).status == 201)
            let chunkedSmall = Refusal("POST", stage.messages, [], as: stage.ann, raw: small, headers: [chunked])
            #expect(try await stage.node.curl.send(chunkedSmall.request).status == 201)
        }
    }
}
