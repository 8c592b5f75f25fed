// The texts that the JSON reader accepts and refuses, and that no input crashes it.
import ParleyFormats
import TestBasics
import Testing

@Suite("Reading JSON", .timeLimit(.minutes(1)))
struct ReadingJSON {
    private func read(_ text: String) throws(JSONError) -> JSONValue { try JSONReader.read(Array(text.utf8)) }

    private func reason(_ text: String) -> JSONError.Reason? { reason(Array(text.utf8)) }

    private func reason(_ bytes: [UInt8]) -> JSONError.Reason? {
        do {
            _ = try JSONReader.read(bytes)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test("keeps the order of members and the text of numbers")
    func keepsWhatWasWritten() throws {
        let text = #"{"z":1e2,"a":[0.10,-0,12345678901234567890,1E+05],"m":{"b":true,"a":null}}"#
        #expect(try read(text).compactText.string == text)
    }

    @Test("stops at the bound of values, wherever they are, and counts no keys")
    func boundsValues() throws {
        for (text, count) in [("[1,2,3]", 4), (#"{"a":{"b":[]},"c":null}"#, 4), ("true", 1)] {
            let bytes = Array(text.utf8)
            _ = try JSONReader.read(bytes.span, .init(valueCountMax: count))
            let error = #expect(throws: JSONError.self) {
                try JSONReader.read(bytes.span, .init(valueCountMax: count - 1))
            }
            #expect(error?.reason == .tooManyValues)
        }
    }

    @Test("leaves out spaces between the tokens and nothing else")
    func compacts() throws {
        let value = try read(" {\r\n\t\"a b\" : [ 1 , \"c  d\" ] }\n")
        #expect(value.compactText.string == #"{"a b":[1,"c  d"]}"#)
    }

    @Test(
        "undoes escapes",
        arguments: [
            (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"), (#""\u00e9\u4F60""#, "é你"),
            (#""\ud83d\ude00!""#, "😀!"), (#""a\u0020b""#, "a b"), (#""""#, ""), ("\"é😀\"", "é😀"),
        ])
    func undoesEscapes(_ text: String, _ expected: String) throws {
        let read = try #require(try read(text).string)
        #expect(Array(read.utf8) == Array(expected.utf8))
    }

    @Test("writes a document so that it reads the same, with escapes only where needed")
    func writesBack() throws {
        let value = try read(#""\u0001\u001f\u007f\u2028\"\\\/\n""#)
        #expect(value.compactText.utf8 == Array("\"\\u0001\\u001f\u{7f}\u{2028}\\\"\\\\/\\n\"".utf8))
        #expect(try JSONReader.read(value.compactText.utf8) == value)
    }

    @Test(
        "refuses what is not JSON",
        arguments: [
            "", " ", "{", "[", "[1", "[1,", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "\"", "\"\\", "\"\\u12", "-",
            "1.", "1e", "1e+", "tru", "[1,]", "[,1]", "{,}", "{\"a\":1,}", "{a:1}", "{'a':1}", "{1:1}", "01", "-01",
            "+1",
            ".5", "1.e5", "0x10", "NaN", "Infinity", "-Infinity", "True", "nul", "\"\\x41\"", "\"\\u00g0\"",
            "\"\\U0041\"",
            "\"a\nb\"", "\"a\tb\"", "\"a\u{0}b\"", "1 2", "{} {}", "[]]", "{\"a\":1 \"b\":2}", "[1 2]", "/**/1", "1//",
            "\u{feff}{}", "\u{a0}1", "{\"a\" 1}", "[1;2]",
        ])
    func refusesMalformed(_ text: String) {
        let expected: Set<JSONError.Reason> = [.unexpectedByte, .unexpectedEnd, .trailingBytes]
        #expect(reason(text).map(expected.contains) == true)
    }

    @Test(
        "refuses bytes that are not UTF-8: overlong forms, surrogates, cut and stray bytes",
        arguments: [
            [0xc0, 0xaf], [0xc1, 0xbf], [0xe0, 0x80, 0xaf], [0xf0, 0x80, 0x80, 0xaf], [0xed, 0xa0, 0x80],
            [0xed, 0xbf, 0xbf], [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82], [0x80], [0xff],
        ] as [[UInt8]])
    func refusesBadUTF8(_ bytes: [UInt8]) {
        #expect(reason([0x22] + bytes + [0x22]) == .notUTF8)
        #expect(reason([0x22, 0x5c, 0x6e] + bytes + [0x22]) == .notUTF8)
        #expect(reason(Array("{\"".utf8) + bytes + Array("\":1}".utf8)) == .notUTF8)
    }

    @Test("refuses UTF-16")
    func refusesUTF16() {
        #expect(reason([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]) == .unexpectedByte)
        #expect(reason([0x7b, 0x00, 0x7d, 0x00]) == .unexpectedByte)
    }

    @Test(
        "refuses halves of surrogate pairs",
        arguments: [
            #""\ud800""#, #""\udc00""#, #""\ud800x""#, #""\ud800\n""#, #""\ud800\u0041""#, #""\ud800\ud800""#,
            #""\udc00\ud800""#, #""\uDBFF""#,
        ])
    func refusesLoneSurrogates(_ text: String) {
        #expect(reason(text) == .loneSurrogate)
    }

    @Test("refuses U+0000 and reports its place")
    func refusesNUL() throws {
        let body = #"{"payload":{"parts":["a",{"text":"a\u0000b"}]}}"#
        let error = #expect(throws: JSONError.self) { try read(body) }
        #expect(error?.reason == .nulCharacter)
        #expect(error?.path == "payload.parts[1].text")
    }

    @Test(
        "replaces or keeps unusual characters where the rules say so",
        arguments: [
            (#""a\u0000b""#, "a\u{fffd}b", "a\0b"), (#""\ud83dx\ude00\ud83d\n""#, "\u{fffd}x\u{fffd}\u{fffd}\n", nil),
            (#""\ud83d\ud83d\ude00""#, "\u{fffd}😀", nil), (#""\ud83d\u0041""#, "\u{fffd}A", nil),
            (#""\\ud83d""#, #"\ud83d"#, nil),
        ])
    func unusualCharacters(_ text: String, _ replaced: String, _ kept: String?) throws {
        var reader = JSONReader(JSONRules(depthMax: 1, characters: .replaced))
        #expect(try reader.document(Array(text.utf8).span) == .string(replaced))
        #expect(reader.hasReplaced == replaced.contains("\u{fffd}"))
        let rules = JSONRules(depthMax: 1, characters: .kept)
        #expect(try JSONReader.read(Array(text.utf8), rules) == .string(kept ?? replaced))
    }

    @Test("refuses an escape that is cut, whatever is before it")
    func cutEscapes() {
        for text in [#""\ud83d\u12""#, #""\ud83d\x""#, #""\ud83d\"#] {
            #expect(throws: JSONError.self) {
                try JSONReader.read(Array(text.utf8), JSONRules(depthMax: 1, characters: .replaced))
            }
        }
    }

    @Test("accepts numbers of several hundred digits where the rules say so, within a double's range")
    func longNumbers() throws {
        var rules = JSONRules()
        rules.numberByteCountMax = 1_024
        func read(_ text: String) throws -> JSONValue { try JSONReader.read(Array(text.utf8), rules) }
        let digits = "1" + String(repeating: "0", count: 308)
        #expect(try read(digits).double == 1e308)
        #expect(try read(digits).compactText.string == digits)
        #expect(throws: JSONError.self) { try read(digits + "0") }
        let small = "0." + String(repeating: "0", count: 399)
        #expect(try read(small).double == 0)
        #expect(throws: JSONError.self) { try read(small + "1") }
        #expect(throws: JSONError.self) { try read(String(repeating: "0", count: 1_025)) }
    }

    @Test("accepts numbers within a double's range and 64 characters")
    func boundsNumbers() {
        #expect(reason("1e308") == nil)
        #expect(reason("-1.7976931348623157e308") == nil)
        #expect(reason("1e309") == .numberOutOfRange)
        #expect(reason("-1e309") == .numberOutOfRange)
        #expect(reason("1e999999999999999999999") == .numberOutOfRange)
        // The smallest double, and a number that a double rounds to 0. PostgreSQL's numeric ends at 1e-16383.
        #expect(reason("4.9e-324") == nil)
        for text in ["1e-325", "1e-400", "-1e-16384", "1e-20000", "0.\(String(repeating: "0", count: 40))1e-300"] {
            #expect(reason(text) == .numberOutOfRange, "\(text)")
        }
        for text in ["0e400", "-0.0e-400", "0e+0", "1e00000000000000000005"] { #expect(reason(text) == nil, "\(text)") }
        for text in ["0e401", "0e-401", "0e-20000", "0e1073741823"] {
            #expect(reason(text) == .numberOutOfRange, "\(text)")
        }
        #expect(reason(String(repeating: "9", count: 64)) == nil)
        #expect(reason(String(repeating: "9", count: 65)) == .numberOutOfRange)
        #expect(reason("0." + String(repeating: "1", count: 63)) == .numberOutOfRange)
    }

    @Test("accepts nesting up to the limit, and refuses any deeper text")
    func boundsDepth() {
        let depth = JSONRules.strict.depthMax
        #expect(reason(String(repeating: "[", count: depth) + String(repeating: "]", count: depth)) == nil)
        #expect(reason(String(repeating: "[", count: depth + 1) + String(repeating: "]", count: depth + 1)) == .tooDeep)
        #expect(reason(String(repeating: "[", count: 1_000_000)) == .tooDeep)
        #expect(reason(String(repeating: "{\"a\":", count: 1_000_000)) == .tooDeep)
        #expect(reason(String(repeating: "[{\"a\":", count: depth / 2) + "[]") == .tooDeep)
    }

    @Test("refuses a key twice in one object, in few members and in many")
    func refusesRepeatedKeys() {
        #expect(reason(#"{"a":1,"a":1}"#) == .repeatedKey)
        #expect(reason(#"{"a":1,"\u0061":2}"#) == .repeatedKey)
        #expect(reason(#"{"a":{"a":1},"b":{"a":1}}"#) == nil)
        let keys = (0..<5_000).map { "\"k\($0)\":0" }
        #expect(reason("{\(keys.joined(separator: ","))}") == nil)
        for repeated in [0, 7, 15, 16, 17, 4_999] {
            #expect(reason("{\(keys.joined(separator: ",")),\"k\(repeated)\":0}") == .repeatedKey)
        }
    }

    @Test("distinguishes keys by their code points, not by their looks")
    func comparesKeysByCodePoints() {
        #expect(reason("{\"\u{e9}\":1,\"e\u{301}\":2}") == nil)
        #expect(reason("{\"e\u{301}\":1,\"e\u{301}\":2}") == .repeatedKey)
    }

    @Test("reads large documents of one kind without trouble")
    func readsLarge() throws {
        let text = "[" + Array(repeating: "{\"a\":\"\\u00e9\\n\"}", count: 40_000).joined(separator: ",") + "]"
        #expect(try read(text).array?.count == 40_000)
    }

    @Test("survives random bytes, and documents cut and changed at random")
    func survivesNoise() {
        var random = SplitMix64(freshFor: "reading random JSON")
        let alphabet =
            Array("{}[]\",:\\u0123456789eE+-.truefalsn \n\u{e9}\u{1f600}".utf8) + [0x00, 0x1f, 0x80, 0xc0, 0xff]
        let document = Array(
            #"{"id":"018f","type":"message","payload":{"text":"h\u00e9\ud83d\ude00","n":[1,-2.5e3,null,true]}}"#.utf8)
        for _ in 0..<20_000 {
            var bytes = document
            for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[at] = alphabet.randomElement(using: &random) ?? 0
                case 1: bytes.remove(at: at)
                case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: at)
                default: bytes.removeLast(bytes.count - at)
                }
            }
            check(bytes)
            check((0..<Int.random(in: 0...40, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? 0 })
        }
    }

    /// Expects that the printed value is read and printed as the same value again.
    private func check(_ bytes: [UInt8]) {
        guard let value = try? JSONReader.read(bytes) else { return }
        let text = value.compactText.utf8
        #expect(String(validating: text, as: UTF8.self) != nil)
        #expect((try? JSONReader.read(text))?.compactText.utf8 == text)
    }
}
