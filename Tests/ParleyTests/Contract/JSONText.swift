// JSON text becomes values and text again, as with Foundation's coders.
import Foundation
import Testing

@testable import Parley

@Suite("JSON text", .timeLimit(.minutes(1)))
struct JSONText {
    @Test(
        "is read as Foundation reads it",
        arguments: [
            "null", "true", "false", "0", "-0", "17", "1.0", "1e2", "1.5", "-12.25e-3", "9223372036854775807",
            "9223372036854775808", "-9223372036854775808", #""""#, #""a b""#, "\"é 😀\"", "[]", "{}", " [ 1 ,\n2 ]\t",
            #"{"a":{"b":[true,false,null,{"":0}]},"c":"d"}"#, #""\u00e9\ud83d\ude00\"\\\/\b\f\n\r\t""#,
        ])
    func reading(text: String) throws {
        #expect(try JSONValue(json: text) == JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)))
        #expect(try JSONValue(json: Data(text.utf8)) == JSONValue(json: text))
    }

    @Test(
        "is refused where it is not JSON",
        arguments: [
            "", " ", "[", "[1,]", "[1 2]", "1 2", "]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "tru", "truex",
            "nul",
            "\"a", "\"\u{1}\"", #""\x""#, #""\u12""#, #""\"#, "-", "--1", "1-2", "1e999", "+", "\u{0}",
            String(repeating: "[", count: 100_000),
        ])
    func refusing(text: String) {
        #expect(throws: JSONSyntaxError.self) { try JSONValue(json: text) }
    }

    @Test("keeps the integers that numbers with a fraction are not")
    func numbers() throws {
        #expect(try JSONValue(json: "[1, 1.5, 9007199254740993]") == [1, 1.5, .integer(9_007_199_254_740_993)])
    }

    @Test("has the last of two equal keys")
    func equalKeys() throws {
        #expect(try JSONValue(json: #"{"a":1,"a":2}"#) == ["a": 2])
    }

    @Test("shows U+FFFD for what is no Unicode")
    func noUnicode() throws {
        #expect(try JSONValue(json: #""\ud83dx\ude00\ud83d\n""#) == "\u{fffd}x\u{fffd}\u{fffd}\n")
        #expect(try JSONValue(json: Data([0x22, 0xff, 0x22])) == "\u{fffd}")
    }

    @Test("is read down to 128 levels")
    func depth() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try JSONValue(json: nested(128))
        #expect(throws: JSONSyntaxError.self) { try JSONValue(json: nested(129)) }
    }

    @Test("is written so that it is read as the same value, by Foundation too")
    func writing() throws {
        let value: JSONValue = [
            "text": "\u{0}\u{1f}\"\\/\n\u{7f}é 😀", "numbers": [0, -1, 1.5, 1e300, .integer(.min), .integer(.max)],
            "words": [true, false, .null], "empty": [[:], []],
        ]
        #expect(try JSONValue(json: value.text) == value)
        #expect(try JSONDecoder().decode(JSONValue.self, from: Data(value.text.utf8)) == value)
        #expect(throws: EncodingError.self) { try JSONValue.number(.nan).text }
    }
}
