// Words of commands, and what their servers answer.
import Domain
import Testing

@Suite("Commands", .timeLimit(.minutes(1)))
struct CommandAnswers {
    private func answer(_ body: String) -> String {
        var limits = Limits()
        limits.textByteCountMax = 8
        limits.payloadByteCountMax = 40
        switch CommandAnswer(Array(body.utf8), limits: limits) {
        case .nothing: return "nothing"
        case .reply(let payload): return String(decoding: payload.utf8, as: UTF8.self)
        case .invalid: return "invalid"
        case .tooLong: return "too long"
        }
    }

    @Test("have a word of a slash and 1 to 32 plain characters")
    func words() throws {
        let longest = "/" + String(repeating: "a", count: 32)
        for word in ["/a", "/deploy-2_x", longest] { #expect(try CommandWord(text: word).text == word) }
        #expect(try CommandWord(text: "/deploy").name == "deploy")
        for word in ["", "/", "deploy", "/Deploy", "/a b", "/é", "//a", "/a\n", longest + "a"] {
            #expect(throws: Invalid.self, "\(word)") { try CommandWord(text: word) }
        }
    }

    @Test("are described in one line")
    func descriptions() throws {
        #expect(try CommandDescription(text: " Deploys ").text == "Deploys")
        for text in ["", " ", "a\nb", String(repeating: "a", count: 257)] {
            #expect(throws: Invalid.self) { try CommandDescription(text: text) }
        }
    }

    @Test("are answered with a text or a payload")
    func replies() {
        #expect(answer(#"{"text":"hi"}"#) == #"{"text":"hi"}"#)
        #expect(answer(#" {"text": "hi", "x": 1} "#) == #"{"text":"hi"}"#)
        #expect(answer(#"{"payload":{"text":"hi","n":1e2}}"#) == #"{"text":"hi","n":1e2}"#)
        #expect(answer(#"{"payload":null,"text":"hi"}"#) == #"{"text":"hi"}"#)
    }

    @Test("post nothing without a text")
    func silence() {
        for body in ["", " \r\n", "{}", #"{"text":""}"#, #"{"text":null}"#, #"{"x":1}"#, #"{"payload":null}"#] {
            #expect(answer(body) == "nothing", "\(body)")
        }
    }

    @Test("are refused unless they are such JSON, of a length that a message may have")
    func refusals() {
        for body in [
            "ok", "<html>", "[]", "1", #"{"text":1}"#, #"{"text":"a","payload":{"text":"b"}}"#, #"{"payload":"a"}"#,
            #"{"payload":{}}"#, #"{"payload":{"text":""}}"#, #"{"text":"a"#, #"{"text":"a\u0000"}"#, "\u{feff}{}",
            #"{"payload":{"text":"a","attachments":[{"id":"x"}]}}"#,
        ] {
            #expect(answer(body) == "invalid", "\(body)")
        }
        #expect(answer(#"{"text":"123456789"}"#) == "too long")
        #expect(answer(#"{"payload":{"text":"a","b":"0123456789012345678901234567890"}}"#) == "too long")
        let attachment = #"{"payload":{"attachments":[{"id":"018f3c2a-1234-7abc-8def-0123456789ab"}]}}"#
        guard case .invalid = CommandAnswer(Array(attachment.utf8), limits: Limits()) else {
            Issue.record("an attachment")
            return
        }
    }
}
