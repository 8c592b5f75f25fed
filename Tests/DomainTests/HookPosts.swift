// What services post to incoming hooks.
import Domain
import Testing

@Suite("Posts to hooks", .timeLimit(.minutes(1)))
struct HookPosts {
    private func text(_ body: String, limits: Limits = Limits()) throws -> String {
        let post = try HookPost(JSONReader.read(Array(body.utf8)), limits: limits)
        return try #require(JSONReader.read(post.payload.text.utf8)["text"]?.string)
    }

    private func fields(_ body: String, limits: Limits = Limits()) throws -> [String] {
        let error = try #require(throws: Invalid.self) { try text(body, limits: limits) }
        return error.fields.map(\.field)
    }

    @Test("become a text: the own one, then title and text of each attachment, or else its fallback")
    func composes() throws {
        #expect(try text(#"{"text":"hi","blocks":[{}],"channel":7}"#) == "hi")
        #expect(
            try text(
                #"""
                {"text":"top","attachments":[{"fallback":"f","pretext":"p","title":"T","title_link":"https://a.example/",
                "text":"x","fields":[{"title":"A","value":1.50},{"title":"B","value":true},{"value":"c"},{"title":"d"},{}]},
                {"fallback":"only","color":"good"},{}]}
                """#) == "top\np\nT (https://a.example/)\nx\nA: 1.50\nB: true\nc\nd\nonly")
        #expect(try text(#"{"text":null,"attachments":[{"title":"T","text":null,"fields":null}]}"#) == "T")
        #expect(try text(#"{"text":"","attachments":[{"fallback":"f"}]}"#) == "f")
    }

    @Test(
        "lose Slack's markup, and keep what only looks like it",
        arguments: [
            ("<https://a.example/?x=1&amp;y=2|A &amp; B>", "A & B (https://a.example/?x=1&y=2)"),
            ("<https://a.example>", "https://a.example"),
            ("<https://a.example|https://a.example>", "https://a.example"),
            ("<mailto:ann@a.example|ann@a.example>", "ann@a.example"), ("<tel:+49|call>", "call (tel:+49)"),
            ("<!here> <!channel|channel> <!everyone>", "@here @channel @everyone"),
            ("<!subteam^S1|@team> <!subteam^S1>", "@team @subteam"),
            ("<!date^1392734382^{date}|Feb 18>", "Feb 18"),
            ("<@U1> <@U1|ann> <#C1|general> <#C1>", "@U1 @ann #general #C1"),
            ("&lt;b&gt; &amp;lt; &amp;amp; &quot; & &am", "<b> &lt; &amp; &quot; & &am"),
            (
                "1 < 2 > 1, <b>, <>, <!>, <@>, <a|b>, <!DOCTYPE html>",
                "1 < 2 > 1, <b>, <>, <!>, <@>, <a|b>, <!DOCTYPE html>"
            ),
            ("<https://a.example and more>", "<https://a.example and more>"), ("<<https://a>", "<https://a"),
            ("<https://a\n>", "<https://a\n>"), ("<", "<"), ("&", "&"), ("ä <!here> 👍", "ä @here 👍"),
        ])
    func plain(_ slack: String, _ plain: String) throws {
        let body = JSONText(.object([.init("text", .string(slack))]))
        #expect(try text(String(decoding: body.utf8, as: UTF8.self)) == plain)
    }

    @Test("name their mistakes")
    func mistakes() throws {
        #expect(try fields("[]") == [""])
        for empty in [#"{}"#, #"{"text":""}"#, #"{"text":null,"attachments":[]}"#, #"{"attachments":[{"color":"x"}]}"#]
        {
            #expect(try fields(empty) == ["text"])
        }
        #expect(try fields(#"{"text":{}}"#) == ["text"])
        #expect(try fields(#"{"attachments":{}}"#) == ["attachments"])
        #expect(try fields(#"{"attachments":[1,{"title":[]}]}"#) == ["attachments[0]", "attachments[1].title"])
        #expect(try fields(#"{"attachments":[{"fields":[{"value":{}}]}]}"#) == ["attachments[0].fields[0].value"])
        let many = Array(repeating: #"{"text":"x"}"#, count: HookPost.attachmentCountMax + 1).joined(separator: ",")
        #expect(try fields(#"{"attachments":[\#(many)]}"#) == ["attachments"])
        var limits = Limits()
        limits.textByteCountMax = 5
        #expect(try text(#"{"text":"12345"}"#, limits: limits) == "12345")
        #expect(try fields(#"{"text":"123","attachments":[{"text":"45"}]}"#, limits: limits) == ["text"])
    }

    @Test("are found in a form")
    func forms() {
        #expect(HookPost.formPayload("payload=%7B%22text%22%3A%22a+b%22%7D") == #"{"text":"a b"}"#)
        #expect(HookPost.formPayload("x=1&payload=7") == "7")
        #expect(HookPost.formPayload("x=1&payloads=7") == nil && HookPost.formPayload("payload=%ff") == nil)
    }

    @Test("have an id by their digest: a UUID of version 8, the same for the same digest")
    func ids() {
        let id = MessageID(digest: Array(repeating: 0xff, count: 32))
        #expect(id.description == "ffffffff-ffff-8fff-bfff-ffffffffffff")
        #expect(MessageID(digest: Array(0..<16)).description == "00010203-0405-8607-8809-0a0b0c0d0e0f")
    }
}
