// The texts of alerts by the account's preference, and how they are cut.
import Domain
import Testing

@testable import Push

@Suite("Saying what happened", .timeLimit(.minutes(1)))
struct SayingWhatHappened {
    @Test(
        "reveals no more than the preference allows",
        arguments: [
            (PushPrivacy.full, String?.none, String?.some("Ann"), "Hello"), (.full, "Team", "Team", "Ann: Hello"),
            (.senderOnly, nil, "Ann", "New message"), (.senderOnly, "Team", "Team", "Ann: New message"),
            (.none, nil, nil, "New message"), (.none, "Team", nil, "New message"),
        ])
    func privacy(_ privacy: PushPrivacy, _ place: String?, _ title: String?, _ body: String) {
        let text = AlertText(.make("Hello", in: place, privacy: privacy))
        #expect(text.title == title)
        #expect(text.body == body)
    }

    @Test(
        "has a text only for messages",
        arguments: [("encrypted", "New message"), ("x-poll", "New message"), ("location", "Location")])
    func types(_ type: String, _ body: String) {
        // Even when the alert carries one.
        #expect(AlertText(.make("secret", type: type)).body == body)
    }

    @Test("needs no name", arguments: [String?.none, "Team"])
    func nameless(_ place: String?) {
        #expect(AlertText(.make("Hello", from: "", in: place)) == AlertText(title: place, body: "Hello"))
    }

    @Test("is cut after a whole visible character, for every size and in every script")
    func cuts() throws {
        let texts = ["👩‍👩‍👧‍👦🇩🇪é", "e\u{301}\"\\\n\t\u{1}x", "שלום, мир, 世界"].map { String(repeating: $0, count: 60) }
        for text in texts {
            for limit in 40...400 {
                let bytes = AlertText(.make(text)).json(byteCountMax: limit) {
                    .object([.init("body", .string($0.body))])
                }
                #expect(bytes.count <= limit)
                let body = try #require(try JSONReader.read(bytes)["body"]?.string)
                guard body != text else { continue }
                #expect(body.hasSuffix("…"))
                #expect(text.hasPrefix(body.dropLast()))
                // One more character would not have fitted. Each of them has at most 40 bytes.
                #expect(bytes.count > limit - 40)
            }
        }
    }

    @Test("is whole when it just fits")
    func fits() {
        let text = AlertText(.make("\"1234\""))
        func body(_ limit: Int) -> String {
            String(decoding: text.json(byteCountMax: limit) { .string($0.body) }, as: UTF8.self)
        }
        #expect(body(10) == #""\"1234\"""#)
        #expect(body(9) == #""\"12…""#)
        #expect(body(5) == #""…""#)
        #expect(body(4) == #""""#)
    }

    @Test("bounds names, too, and leaves room for a text after the longest name")
    func names() throws {
        let name = String(repeating: "\"", count: 10_000)
        let alert = PushAlert.make(.phone, .make(String(repeating: "x", count: 100_000), from: name, in: name))
        let request = try APNs.make().request(alert, providerToken: .test)
        #expect(request.body.count == 4_096)
        let body = try #require(request.json?["aps"]?["alert"]?["body"]?.string)
        #expect(body.contains("\"…: x"))
        #expect(body.hasSuffix("x…"))
    }
}
