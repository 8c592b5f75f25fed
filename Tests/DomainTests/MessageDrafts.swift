// The messages that a client may send.
import Domain
import Testing

@Suite("Message drafts", .timeLimit(.minutes(1)))
struct MessageDrafts {
    private static let id = "018f3c2a-1234-7abc-8def-0123456789ab"

    private func draft(_ text: String, limits: Limits = Limits()) throws -> MessageDraft {
        try MessageDraft(JSONReader.read(Array(text.utf8)), limits: limits)
    }

    private func fields(_ text: String, limits: Limits = Limits()) throws -> [String] {
        let error = try #require(throws: Invalid.self) { try draft(text, limits: limits) }
        return error.fields.map(\.field)
    }

    @Test("needs a payload with a text and nothing else")
    func takesTheLeast() throws {
        let draft = try draft(#"{ "payload" : { "text" : "hi" } }"#)
        #expect(draft.type == .message)
        #expect(draft.payload.text == JSONText(utf8: Array(#"{"text":"hi"}"#.utf8)))
        #expect(draft.replyTo == nil)
        #expect(draft.mentions.isEmpty)
    }

    @Test("accept an id in either case and create one if there is none")
    func takesIDs() throws {
        #expect(try draft(#"{"id":"\#(Self.id.uppercased())","payload":{"text":"hi"}}"#).id.description == Self.id)
        let made = try draft(#"{"id":null,"payload":{"text":"hi"}}"#).id.description
        #expect(made.dropFirst(14).first == "7")
        #expect(try fields(#"{"id":"x","payload":{"text":"hi"}}"#) == ["id"])
        #expect(try fields(#"{"id":7,"payload":{"text":"hi"}}"#) == ["id"])
    }

    @Test("accept a time after which the content expires, up to ten years")
    func takesTimes() throws {
        for time in ["1", "315360000"] {
            #expect(try draft(#"{"payload":{"text":"hi"},"expires_in_s":\#(time)}"#).expires?.seconds == Int32(time))
        }
        #expect(try draft(#"{"payload":{"text":"hi"},"expires_in_s":null}"#).expires == nil)
        #expect(try fields(#"{"payload":{"text":"hi"},"expires_in_s":315360001}"#) == ["expires_in_s"])
    }

    @Test("keeps the payload's own keys and numbers")
    func keepsPayload() throws {
        let draft = try draft(#"{"payload":{"n":1.50,"text":"hi","attachments":[],"x":{"b":1,"a":2}}}"#)
        #expect(draft.payload.text.utf8 == Array(#"{"n":1.50,"text":"hi","attachments":[],"x":{"b":1,"a":2}}"#.utf8))
    }

    @Test(
        "name the mistakes of a message",
        arguments: [
            ("{}", ["payload"]), (#"{"payload":null}"#, ["payload"]), (#"{"payload":"hi"}"#, ["payload"]),
            (#"{"payload":[]}"#, ["payload"]), (#"{"payload":{"text":null}}"#, ["payload.text"]),
            (#"{"payload":{}}"#, ["payload.text"]), (#"{"payload":{"text":""}}"#, ["payload.text"]),
            (#"{"payload":{"text":3}}"#, ["payload.text"]),
            (#"{"payload":{"text":"a","attachments":[{"id":1}]}}"#, ["payload.attachments[0].id"]),
            (#"{"payload":{"attachments":[]}}"#, ["payload.text"]),
            (#"{"payload":{"attachments":{}}}"#, ["payload.attachments"]),
            (#"{"payload":{"text":"a","attachments":["\#(Self.id)"]}}"#, ["payload.attachments[0]"]),
            (
                #"{"payload":{"attachments":[{"id":"\#(Self.id)","url":"x"},{"name":"a"}]}}"#,
                ["payload.attachments[0].url", "payload.attachments[1].id"]
            ),
            (
                #"{"payload":{"attachments":[{"id":"\#(Self.id)"},{"id":"\#(Self.id.uppercased())"}]}}"#,
                ["payload.attachments"]
            ),
            (#"{"payload":{"text":"a"},"expires_in_s":0}"#, ["expires_in_s"]),
            (#"{"payload":{"text":"a"},"expires_in_s":-1}"#, ["expires_in_s"]),
            (#"{"payload":{"text":"a"},"expires_in_s":"soon"}"#, ["expires_in_s"]),
            (#"{"payload":{"text":"a"},"sender":"x","Text":1}"#, ["sender", "Text"]),
            (#"{"payload":{"text":"a"},"type":"system"}"#, ["type"]),
            (#"{"payload":{"text":"a"},"type":"video"}"#, ["type"]), (#"{"payload":{},"type":7}"#, ["type"]),
            (#"{"payload":{},"type":""}"#, ["type"]),
            (#"{"payload":{},"type":"x-\#(String(repeating: "a", count: 1_000))"}"#, ["type"]),
            (#"{"payload":{},"type":"encrypted"}"#, ["payload.ciphertext"]),
            (#"{"payload":{},"type":"x-"}"#, ["type"]), (#"{"payload":{},"type":"x-A"}"#, ["type"]),
            (#"{"payload":{"text":"a"},"reply_to":"last"}"#, ["reply_to"]),
            (#"{"payload":{"text":"a"},"reply_to":1}"#, ["reply_to"]),
            (#"{"payload":{"text":"a"},"mentions":["ann"]}"#, ["mentions[0]"]),
            (#"{"payload":{"text":"a"},"mentions":[null]}"#, ["mentions[0]"]),
            (#"{"payload":{"text":"a"},"mentions":"ann"}"#, ["mentions"]),
            (#"{"id":1,"payload":{"text":2},"mentions":[1]}"#, ["id", "payload.text", "mentions[0]"]),
        ])
    func namesMistakes(_ text: String, _ expected: [String]) throws {
        #expect(try fields(text) == expected)
    }

    @Test("count a mention once and accept at most 100")
    func boundsMentions() throws {
        let ids = (0..<101).map { _ in "\"\(UserID.make())\"" }
        let twice = ids[0] + "," + ids[1] + "," + ids[0]
        #expect(try draft("{\"payload\":{\"text\":\"a\"},\"mentions\":[\(twice)]}").mentions.count == 2)
        let all = ids.joined(separator: ",")
        #expect(try fields("{\"payload\":{\"text\":\"a\"},\"mentions\":[\(all)]}") == ["mentions"])
    }

    @Test("bounds text and payload in bytes")
    func boundsSizes() throws {
        var limits = Limits()
        limits.textByteCountMax = 4
        limits.payloadByteCountMax = 40
        _ = try draft(#"{"payload":{"text":"éé"}}"#, limits: limits)
        #expect(try fields(#"{"payload":{"text":"ééa"}}"#, limits: limits) == ["payload.text"])
        let long = String(repeating: "y", count: 40)
        #expect(try fields("{\"payload\":{\"text\":\"a\",\"x\":\"\(long)\"}}", limits: limits) == ["payload"])
    }

    @Test("keeps the ids of attachments, as the last member, and needs no text beside them")
    func keepsAttachments() throws {
        let other = "028f3c2a-1234-7abc-8def-0123456789ab"
        let whole = #"{"id":"\#(Self.id.uppercased())","name":"a","size":1,"thumbnail":true,"width":2}"#
        let draft = try draft(#"{"payload":{"attachments":[\#(whole),{"id":"\#(other)"}],"n":1}}"#)
        #expect(
            draft.payload.text.utf8
                == Array(#"{"n":1,"attachments":[{"id":"\#(Self.id)"},{"id":"\#(other)"}]}"#.utf8))
        #expect(draft.payload.attachments.map(\.description) == [Self.id, other])
        let encrypted = try self.draft(
            #"{"type":"encrypted","payload":{"attachments":[{"id":"\#(other)"}],"ciphertext":"AAAA"}}"#)
        #expect(encrypted.payload.attachments.map(\.description) == [other])
    }

    @Test("accept ten attachments, and name the field with more")
    func boundsAttachments() throws {
        func payload(_ count: Int) -> String {
            let entries = (0..<count).map { _ in "{\"id\":\"\(AttachmentID.make())\"}" }.joined(separator: ",")
            return "{\"payload\":{\"text\":\"a\",\"attachments\":[\(entries)]}}"
        }
        #expect(try draft(payload(10)).payload.attachments.count == 10)
        #expect(try fields(payload(11)) == ["payload.attachments"])
    }

    @Test("checks a location")
    func checksLocations() throws {
        func payload(_ text: String) -> String { "{\"type\":\"location\",\"payload\":\(text)}" }
        _ = try draft(payload(#"{"latitude":-90,"longitude":180.0,"accuracy_m":0,"label":"pole"}"#))
        #expect(
            try fields(payload(#"{"latitude":90.1,"longitude":"1"}"#)) == ["payload.latitude", "payload.longitude"])
        #expect(try fields(payload(#"{"latitude":1}"#)) == ["payload.longitude"])
        #expect(
            try fields(payload(#"{"latitude":1,"longitude":1,"accuracy_m":-1,"label":2}"#))
                == ["payload.accuracy_m", "payload.label"])
        #expect(try fields(payload(#"{"latitude":1,"longitude":1,"alt":1}"#)) == ["payload.alt"])
    }

    @Test("checks that ciphertext is base64")
    func checksCiphertext() throws {
        func payload(_ text: String) -> String { "{\"type\":\"encrypted\",\"payload\":{\"ciphertext\":\(text)}}" }
        for text in ["\"AAAA\"", "\"AA==\"", "\"AAA=\"", "\"a+/9\""] { _ = try draft(payload(text)) }
        for text in ["\"\"", "\"AAA\"", "\"A===\"", "\"AA=A\"", "\"A_A-\"", "\"AA A\"", "1", "null"] {
            #expect(try fields(payload(text)) == ["payload.ciphertext"])
        }
    }

    @Test("accept types of the app with any object")
    func takesCustomTypes() throws {
        let draft = try draft(#"{"type":"x-poll.v1","payload":{"anything":[1]}}"#)
        #expect(draft.type.text == "x-poll.v1")
        #expect(try fields(#"{"type":"x-poll","payload":[1]}"#) == ["payload"])
    }
}
