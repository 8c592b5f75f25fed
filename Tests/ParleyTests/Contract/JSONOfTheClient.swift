// What the client reads and writes that requests may not have. ParleyFormatsTests have the rest of JSON.
import Foundation
import Testing

@testable import Parley

@Suite("JSON of the client", .timeLimit(.minutes(1)))
struct JSONOfTheClient {
    @Test("may have U+0000, and halves of surrogate pairs, which become U+FFFD")
    func unusualCharacters() throws {
        #expect(try JSONValue(json: #""a\u0000\ud83d""#) == "a\0\u{fffd}")
        let value: JSONValue = ["text": "\u{0}\u{1f}\"\\/\n\u{7f}é 😀"]
        #expect(try JSONValue(json: value.text) == value)
    }

    @Test("is read down to 128 levels")
    func depth() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try JSONValue(json: nested(128))
        #expect(throws: JSONError.self) { try JSONValue(json: nested(129)) }
    }

    @Test("keeps numbers as the server wrote them")
    func numbers() throws {
        let text = "[1,1.50,9007199254740993,1\(String(repeating: "0", count: 300))]"
        #expect(try JSONValue(json: text).text == text)
        #expect(try JSONValue(json: Data(text.utf8)).text == text)
    }

    @Test(
        "is refused with repeated keys, and if it is not UTF-8",
        arguments: [#"{"a":1,"a":2}"#, "\"\u{ff}\"", "[1,]", ""])
    func refusals(_ text: String) {
        let bytes = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        #expect(throws: JSONError.self) { try JSONValue(json: Data(bytes)) }
    }
}
