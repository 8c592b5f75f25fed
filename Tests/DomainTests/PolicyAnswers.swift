// What an answer of the operator's policy means.
import Domain
import TestSupport
import Testing

@Suite("Answers of the policy", .timeLimit(.minutes(1)))
struct PolicyAnswers {
    private static func read(
        _ json: String, about type: MessageType = .message, attachments: [AttachmentID] = []
    ) throws -> PolicyVerdict {
        try PolicyVerdict(
            JSONReader.read(Array(json.utf8)), about: type, attachments: attachments, limits: Limits())
    }

    @Test("are one of four actions; other members are ignored")
    func actions() throws {
        #expect(try Self.read(#"{"action":"allow","score":1}"#).action == .allow)
        #expect(try Self.read(#"{"action":"review"}"#).action == .review)
        let others = [#"{}"#, #"[]"#, #""allow""#, #"{"action":"Allow"}"#, #"{"action":null}"#, #"{"action":[]}"#]
        for json in others { #expect(throws: Invalid.self, "\(json)") { try Self.read(json) } }
    }

    @Test(
        "deny with a code of the form of ours, or with ours",
        arguments: [
            (#""too_rude""#, "too_rude"), (#""a1""#, "a1"), (#""""#, "policy_denied"), (#""Rude""#, "policy_denied"),
            (#""1a""#, "policy_denied"), ("7", "policy_denied"), ("null", "policy_denied"),
            (#""a\nb""#, "policy_denied"),
        ])
    func codes(_ sent: String, _ code: String) throws {
        guard case .deny(let got, let detail) = try Self.read(#"{"action":"deny","code":\#(sent)}"#) else {
            Issue.record("no denial")
            return
        }
        #expect(got == code && !detail.isEmpty)
    }

    @Test("have bounds")
    func bounds() throws {
        let code = String(repeating: "c", count: PolicyLimits.codeByteCountMax)
        let detail = String(repeating: "ü", count: PolicyLimits.detailCharacterCountMax)
        let json = #"{"action":"deny","code":"\#(code)","detail":"\#(detail)é"}"#
        guard case .deny(code, detail) = try Self.read(json) else {
            Issue.record("other than \(code) and \(detail)")
            return
        }
        guard
            case .review(nil, detail) = try Self.read(#"{"action":"review","code":"\#(code)c","detail":"\#(detail)"}"#)
        else {
            Issue.record("a code that is too long")
            return
        }
    }

    @Test("rewrite with a payload that obeys the rules for the message's type")
    func rewriting() throws {
        guard case .rewrite(let payload) = try Self.read(#"{"action":"rewrite","payload":{"text":"b","x":1}}"#) else {
            Issue.record("no rewrite")
            return
        }
        #expect(String(decoding: payload.text.utf8, as: UTF8.self) == #"{"text":"b","x":1}"#)
        let long = String(repeating: "a", count: Limits().textByteCountMax + 1)
        for payload in [#"{"text":""}"#, "null", "7", #"{"text":7}"#, #"{"text":"\#(long)"}"#, "{}"] {
            let json = #"{"action":"rewrite","payload":\#(payload)}"#
            #expect(throws: Invalid.self, "\(payload)") { try Self.read(json) }
        }
        #expect(throws: Invalid.self) { try Self.read(#"{"action":"rewrite"}"#) }
        let place = #"{"action":"rewrite","payload":{"latitude":1,"longitude":2}}"#
        #expect(try Self.read(place, about: .location).action == .rewrite)
        let text = #"{"action":"rewrite","payload":{"text":"b"}}"#
        #expect(throws: Invalid.self) { try Self.read(text, about: .location) }
    }

    @Test("remove attachments, but add none")
    func attachments() throws {
        let (sent, other) = (AttachmentID.make(), AttachmentID.make())
        func rewrite(_ ids: [AttachmentID]) throws -> PolicyVerdict {
            let list = ids.map { #"{"id":"\#($0)"}"# }.joined(separator: ",")
            return try Self.read(
                #"{"action":"rewrite","payload":{"text":"b","attachments":[\#(list)]}}"#, attachments: [sent])
        }
        #expect(try rewrite([]).action == .rewrite)
        guard case .rewrite(let payload) = try rewrite([sent]) else { return }
        #expect(payload.attachments == [sent])
        #expect(throws: Invalid.self) { try rewrite([sent, other]) }
    }
}
