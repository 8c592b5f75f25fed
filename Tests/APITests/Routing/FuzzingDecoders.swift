// Request decoders on nearly legal inputs: nothing traps, and an accepted value is written out exactly as it was read.
// For longer runs: FUZZ_SECONDS=300 PARLEY_SEED=7 swift test --filter FuzzingDecoders
import Basics
import Credentials
import Domain
import HTTPTypes
import TestSupport
import Testing

@testable import Transport

@Suite("Fuzzing request decoders", .serialized, .timeLimit(.minutes(Fuzzing.minutesMax)))
struct FuzzingDecoders {
    private static let id = "0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
    private static let cursor = Cursor(epoch: 3, position: Position(70_000)).description

    private func note(_ input: some Sequence<UInt8>) -> Comment {
        "PARLEY_SEED=\(Fuzzing.seed): \(String(decoding: Array(input), as: UTF8.self).debugDescription)"
    }

    @Test("JSON is returned as it was sent, within its limits, or is refused")
    func json() {
        let corpus = [
            #"{"id":"\#(Self.id)","payload":{"text":"h\u00e9\ud83d\udc4d\n"},"mentions":[],"reply_to":null}"#,
            #"{"a":[1,-0.5e+10,true,false,null,{"b":{"c":[[[]]]}}],"":""}"#, " [ 1 , 2 ] ",
            "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
            "\(String(repeating: "[", count: 31))1\(String(repeating: "]", count: 31))",
        ]
        let words = [
            "\\u0000", "\\ud800", "\\udc00", "[", "{\"a\":", "1e999", "-", "\"", "\\", ",", ":", "}", "]", "\u{FEFF}",
        ]
        Fuzzing.run(corpus, words: words) { mutations in
            let bytes = mutations.next()
            guard let value = try? JSONReader.read(bytes) else { return }
            let written = Array(value.compactText.utf8)
            #expect((try? JSONReader.read(written))?.compactText.utf8 == written, note(bytes))
            #expect(String(validating: bytes, as: UTF8.self) != nil && !written.contains(0), note(bytes))
            #expect(depth(of: value) <= JSONRules.strict.depthMax, note(bytes))
        }
    }

    private func depth(of value: JSONValue) -> Int {
        switch value {
        case .array(let items): 1 + (items.map(depth).max() ?? 0)
        case .object(let members): 1 + (members.map { depth(of: $0.value) }.max() ?? 0)
        default: 0
        }
    }

    @Test("message fields are read as sent, or refused by name")
    func messages() {
        let corpus = [
            #"{"id":"\#(Self.id)","type":"message","payload":{"text":"hi"},"reply_to":"\#(Self.id)","mentions":["\#(Self.id)"]}"#,
            #"{"type":"location","payload":{"latitude":90,"longitude":-180,"accuracy_m":0.5,"label":"x"},"expires_in_s":60}"#,
            #"{"type":"encrypted","payload":{"ciphertext":"AAAA"}}"#, #"{"type":"x-y","payload":{"z":[1e2]}}"#,
        ]
        let words = ["null", "1e400", "-1", "\"\"", "[]", "{}", "payload", "text", "9223372036854775808", "0.1"]
        Fuzzing.run(corpus, words: words) { mutations in
            let bytes = mutations.next()
            guard let value = try? JSONReader.read(bytes) else { return }
            do {
                let draft = try MessageDraft(value, limits: Limits())
                #expect(draft.payload.text.utf8.count <= Limits().payloadByteCountMax, note(bytes))
            } catch let error as Invalid {
                #expect(!error.fields.isEmpty && error.fields.allSatisfy { !$0.detail.isEmpty }, note(bytes))
            } catch {
                Issue.record("\(error): \(note(bytes))")
            }
        }
    }

    @Test("a poll's query is within its limits, or refused by name")
    func queries() {
        let corpus = [
            "cursor=\(Self.cursor)&wait=25&limit=100", "limit=1", "", "wait=0&cursor=%43", "a=b&c=d+e%20f&g", "=&&=",
        ]
        let words = [
            "%00", "%ff", "%c0%af", "%25", "%", "&", "=", "+", "limit=", "wait=", "cursor=", "99999999999999999999",
        ]
        Fuzzing.run(corpus, words: words) { mutations in
            let query = mutations.nextText()
            do {
                let read = try SyncQuery(query[...])
                #expect((1...PageRequest.limitMax).contains(read.limit), note(query.utf8))
                #expect(read.waitS.map { (0...SyncQuery.waitSMax).contains($0) } ?? true, note(query.utf8))
                #expect(read.cursor.map { Cursor(parsing: $0.description) == $0 } ?? true, note(query.utf8))
            } catch let error as Problem {
                #expect(!error.fields.isEmpty && error.fields.count <= 100, note(query.utf8))
            } catch {
                Issue.record("\(error): \(note(query.utf8))")
            }
        }
    }

    @Test("cursors, pages, ids and times are read from exactly one text each, or none")
    func opaqueTexts() {
        let page = PageKey(rank: -5, id: UserID.make().uuid).description
        Fuzzing.run([Self.cursor, page, Self.id, "2026-11-21T10:00:00.123Z", "1969-12-31t23:59:60+23:59"]) {
            mutations in
            let text = mutations.nextText()
            if let cursor = Cursor(parsing: text) {
                #expect(cursor.description == text, note(text.utf8))
                #expect(cursor.epoch > 0 && cursor.position >= .start, note(text.utf8))
            }
            if let page = PageKey(parsing: text) { #expect(page.description == text, note(text.utf8)) }
            if let id = UserID(parsing: text) { #expect(id.description == text.lowercased(), note(text.utf8)) }
            if let time = Timestamp(parsing: text) {
                let again = Timestamp(parsing: time.description)
                #expect(again.map { abs($0.microsSince1970 - time.microsSince1970) < 1_000 } ?? false, note(text.utf8))
            }
            _ = try? HistoryBound(text: text)
            if let bytes = Base64.urlSafe.decode(text) {
                #expect(Base64.urlSafe.encode(bytes) == text, note(text.utf8))
            }
        }
    }

    @Test("a session token is accepted only in its exact text")
    func tokens() {
        let token = SessionToken.random()
        Fuzzing.run([token.text, token.text, SessionToken.random().text], words: [SessionToken.prefix, "="]) {
            mutations in
            let bytes = mutations.next()
            guard let read = SessionToken(parsing: bytes) else { return }
            #expect(Array(read.text.utf8) == bytes, note(bytes))
            #expect(read.digest.count == 32, note(bytes))
        }
    }

    @Test("a target becomes a canonical path, or is refused")
    func targets() {
        let corpus = [
            "/v1/sync?cursor=x&wait=1", "http://host:80/a?b", "https://[::1]?q", "*", "/%2e%2e/%00//a/../b", "/",
        ]
        let words = ["://", "http://", "@", "#", "?", "%2F", "\\", " ", "\t", "\u{fffd}", "//", "*", "\r\n"]
        Fuzzing.run(corpus, words: words) { mutations in
            let text = mutations.nextText()
            for method in [HTTPRequest.Method.get, .options] {
                guard let path = try? RequestTarget.originForm(text, method: method) else { continue }
                #expect(path.utf8.first == UInt8(ascii: "/") || path == "*" && method == .options, note(text.utf8))
                #expect(path.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "#") }, note(text.utf8))
                #expect((try? RequestTarget.originForm(path, method: method)) == path, note(text.utf8))
                let count = RequestTarget.pathByteCount(path)
                #expect(!path.utf8.prefix(count).contains(UInt8(ascii: "?")), note(text.utf8))
            }
            if let address = IPAddress(parsing: text) { #expect(IPAddress(parsing: address.description) == address) }
        }
    }
}
