// Names, passwords and profiles: which are valid, and how they are stored.
import Domain
import Testing

@Suite("Account values", .timeLimit(.minutes(1)))
struct AccountValues {
    @Test(
        "accept usernames of 1 to 64 plain characters",
        arguments: ["a", "Ann.B_c-9", "0", String(repeating: "x", count: 64)])
    func takesUsernames(_ text: String) throws {
        #expect(try Username(text: text).text == text)
    }

    @Test(
        "refuses other usernames",
        arguments: ["", ".a", "-a", "_a", "a b", "é", "a\u{0}", "a\n", String(repeating: "x", count: 65), "a/b", "a@b"])
    func refusesUsernames(_ text: String) {
        #expect(throws: Invalid.self) { try Username(text: text) }
    }

    @Test("has the same key for a username in any case")
    func foldsUsernames() throws {
        #expect(try Username(text: "Ann.B").key == Username(text: "aNN.b").key)
    }

    @Test("trims display names and puts them in form C")
    func normalizesNames() throws {
        let name = try DisplayName(text: " \u{2003}Ame\u{301}lie\u{a0} ")
        #expect(Array(name.text.unicodeScalars) == Array("Am\u{e9}lie".unicodeScalars))
    }

    @Test(
        "refuses names that are empty, too long, or have control characters",
        arguments: [
            "", "   ", "\u{a0}", "a\u{1}b", "a\nb", "a\u{85}b", "a\u{2028}b", "a\u{7f}",
            String(repeating: "x", count: 129),
            String(repeating: "e\u{301}", count: 129), "e" + String(repeating: "\u{334}", count: 200),
        ])
    func refusesNames(_ text: String) {
        #expect(throws: Invalid.self) { try DisplayName(text: text) }
    }

    @Test("counts characters after form C")
    func countsCharacters() throws {
        #expect(try DisplayName(text: String(repeating: "e\u{301}", count: 128)).text.unicodeScalars.count == 128)
        #expect(try DisplayName(text: String(repeating: "😀", count: 128)).text.count == 128)
    }

    @Test("finds a name by its words, the whole of it, and the username")
    func splitsWords() throws {
        let words = try DisplayName(text: "Dr. Anne-Marie  O'Hara").directoryWords(with: Username(text: "AM.9"))
        #expect(words == ["dr", "anne", "marie", "o", "hara", "dr. anne-marie o'hara", "am.9"])
        #expect(try DisplayName(text: "李 小龍").directoryWords(with: nil) == ["李", "小龍", "李 小龍"])
        #expect(try DisplayName(text: "ann").directoryWords(with: Username(text: "Ann")) == ["ann"])
        #expect(try DisplayName(text: "🙂").directoryWords(with: nil) == ["🙂"])
    }

    @Test("accept passwords of 8 characters to 1,024 bytes")
    func boundsPasswords() throws {
        #expect(try Password(text: "12345678").text == "12345678")
        #expect(try Password(text: String(repeating: "x", count: 1_024)).text.utf8.count == 1_024)
        #expect(throws: Invalid.self) { try Password(text: "1234567") }
        #expect(throws: Invalid.self) { try Password(text: String(repeating: "é", count: 513)) }
    }

    @Test("never prints a password")
    func hidesPasswords() throws {
        let password = try Password(text: "correct horse")
        var dumped = ""
        dump(password, to: &dumped)
        #expect(!"\(password) \(String(reflecting: password)) \(dumped)".contains("horse"))
    }

    @Test(
        "accept absolute http and https URLs",
        arguments: ["https://a.example/x.png?y=1#z", "HTTP://localhost:8080/", "https://[::1]/a", "http://a"])
    func takesURLs(_ text: String) throws {
        #expect(try ImageURL(text: text).text == text)
    }

    @Test(
        "refuses other URLs",
        arguments: [
            "", "a.png", "/a.png", "//a/b", "ftp://a/b", "javascript:alert(1)", "data:image/png,x", "https://",
            "https:///a",
            "https://?a", "https://a/b c", "https://a/\"", "https://a/é", "https:/a", "http:a",
            "https://a/" + String(repeating: "x", count: 2_048),
        ])
    func refusesURLs(_ text: String) {
        #expect(throws: Invalid.self) { try ImageURL(text: text) }
    }

    @Test("a picture is a URL, or attachment: and an id, which is written in lower case")
    func takesPictures() throws {
        let id = "018f3c2a-1234-7abc-8def-0123456789ab"
        #expect(try Picture(text: "attachment:" + id.uppercased()).text == "attachment:" + id)
        #expect(try Picture(text: "https://a.example/x.png").text == "https://a.example/x.png")
        for text in ["attachment:", "attachment:x", "attachment://" + id, id, "ATTACHMENT:" + id, "attachment:\(id) "] {
            #expect(throws: Invalid.self) { try Picture(text: text) }
        }
        #expect(throws: Invalid.self) { try ImageURL(text: "attachment:" + id) }
    }

    @Test("checks preferences key by key")
    func checksPreferences() throws {
        func read(_ text: String) throws -> Preferences { try Preferences(JSONReader.read(Array(text.utf8))) }
        _ = try read("{}")
        _ = try read(#"{"share_presence":false,"push":"sender_only"}"#)
        for text in [#"{"push":"some"}"#, #"{"push":null}"#, #"{"share_presence":1}"#, #"{"theme":"dark"}"#, "[]", "1"]
        {
            #expect(throws: Invalid.self) { try read(text) }
        }
    }
}

@Suite("E-mail addresses", .timeLimit(.minutes(1)))
struct EmailAddresses {
    @Test(
        "are kept as typed before the @, and in the DNS form after it",
        arguments: [
            ("ann@a.example", "ann@a.example"), (" Ann.Lee+x@A.Example ", "Ann.Lee+x@a.example"),
            ("a@localhost", "a@localhost"), ("ann@bücher.example", "ann@xn--bcher-kva.example"),
            ("ann@BÜCHER.example", "ann@xn--bcher-kva.example"), ("o'hara_{x}@a-b.example", "o'hara_{x}@a-b.example"),
            ("ann@e\u{301}.example", "ann@xn--9ca.example"), ("ann@例え.テスト", "ann@xn--r8jz45g.xn--zckzah"),
            ("ann@faß.example", "ann@xn--fa-hia.example"), ("ann@пример。Example", "ann@xn--e1afmkfd.example"),
            ("ann@ｂü.example", "ann@xn--b-eha.example"),
            ("ann@他们为什么不说中文.example", "ann@xn--ihqwcrb4cv8a8dqg056pqjye.example"),
        ])
    func takes(typed: String, text: String) throws {
        #expect(try EmailAddress(text: typed).text == text)
        #expect(try EmailAddress(text: typed).key == text.lowercased())
    }

    @Test("are equal in any case, but differ from look-alikes")
    func keys() throws {
        #expect(try EmailAddress(text: "MIKE@a.example").key == EmailAddress(text: "mike@A.EXAMPLE").key)
        // The Kelvin sign is a k in lower case.
        #expect(throws: Invalid.self) { try EmailAddress(text: "mi\u{212a}e@a.example") }
        #expect(try EmailAddress(text: "a.b@a.example").key != EmailAddress(text: "ab@a.example").key)
    }

    @Test(
        "are refused when they are invalid, or could be read as more than one",
        arguments: [
            "", "a", "@", "a@", "@a.example", "a@b@c.example", "a b@c.example", "a@b c.example", "a@b..example",
            "a@-b.example", "a@b-.example", "a@.example", "a@b.example.", ".a@b.example", "a.@b.example",
            "a..b@c.example",
            "a@b.example\r\nBcc: c@d.example", "a\r\n@b.example", "a@b.example,c@d.example", "<a@b.example>",
            "\"a b\"@c.example", "a@[127.0.0.1]", "a@b_c.example", "a@b.example/x", "a@b.example?x", "a@b:25",
            "a@u%2eexample",
            "ännchen@b.example", "a@☃.example", "a@b\u{200d}ü.example", "a@ü b.example", "a@ü_.example",
            "a@-ü.example/",
            "a@\(String(repeating: "ü", count: 64)).example", "a@\(String(repeating: "字", count: 60)).example",
            "a\u{0}@b.example", "a@b\u{0}.example",
            String(repeating: "a", count: 65) + "@b.example", "a@" + String(repeating: "b.", count: 130) + "example",
            "a@" + String(repeating: "b", count: 64) + ".example",
        ])
    func refuses(_ text: String) { #expect(throws: Invalid.self) { try EmailAddress(text: text) } }

    @Test("of other scripts before the @ are refused by name")
    func saysWhy() {
        let invalid = #expect(throws: Invalid.self) { try EmailAddress(text: "用户@例子.example") }
        #expect(invalid?.fields.first?.detail.contains("ASCII") == true)
    }
}
