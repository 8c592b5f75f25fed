// JSON values in memory: members, comparison, Foundation's coders.
import Foundation
import ParleyFormats
import Testing

@Suite("JSON values", .timeLimit(.minutes(1)))
struct JSONValues {
    private func read(_ text: String) throws -> JSONValue { try JSONReader.read(Array(text.utf8)) }

    @Test("set, replace and remove members, which keep their order")
    func members() throws {
        var value = try read(#"{"a":1,"b":2}"#)
        value["c"] = .integer(3)
        value["a"] = .string("x")
        value["b"] = nil
        value["nothing"] = nil
        #expect(value.compactText.string == #"{"a":"x","c":3}"#)
        value.merge(try read(#"{"c":4,"d":5}"#))
        #expect(value.compactText.string == #"{"a":"x","c":4,"d":5}"#)
        var text = JSONValue.string("x")
        text["a"] = .null
        #expect(text == .string("x") && text["a"] == nil)
    }

    @Test("find a key by its code points")
    func keys() {
        let value = JSONValue.object([.init("e\u{301}", .integer(1)), .init("\u{212A}", .integer(2))])
        #expect(value["\u{e9}"] == nil && value["e\u{301}"]?.int == 1 && value["K"] == nil)
    }

    @Test("are equal if they mean the same, in any order of members and any spelling of numbers")
    func equality() throws {
        let equal = [
            ("1", "1.0"), ("100", "1e2"), ("-0", "0"), ("0.1", "1e-1"), (#"{"a":1,"b":[2]}"#, #"{"b":[2.0],"a":1}"#),
        ]
        for (left, right) in equal {
            #expect(try read(left) == read(right) && read(left).hashValue == read(right).hashValue, "\(left) \(right)")
        }
        let different = [
            ("1", "2"), ("9007199254740993", "9007199254740992"), ("1", "\"1\""), ("{}", "[]"), ("null", "false"),
            (#"{"a":1}"#, #"{"a":1,"b":1}"#), (#"{"a":1}"#, #"{"b":1}"#), ("[1,2]", "[2,1]"),
        ]
        for (left, right) in different { #expect(try read(left) != read(right), "\(left) \(right)") }
    }

    @Test("write no number that JSON does not have")
    func infinite() {
        #expect(JSONValue.double(.nan).compactText.string == "null")
        #expect(JSONValue.double(-.infinity).isNull && JSONValue.double(1.5).compactText.string == "1.5")
    }

    @Test(
        "pass through Foundation's coders",
        arguments: [
            "null", "true", "17", "-12.25e-3", "9223372036854775807", "9223372036854775808", #""a b""#, "[]", "{}",
            #"{"a":{"b":[true,false,null,{"":0}]},"c":"d"}"#, #""\u00e9\ud83d\ude00\"\\\/\b\f\n\r\t""#,
        ])
    func coding(_ text: String) throws {
        let value = try read(text)
        #expect(try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) == value)
        #expect(try JSONReader.read(Array(JSONEncoder().encode(value))) == value)
    }
}
