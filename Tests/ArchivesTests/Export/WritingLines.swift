import Archives
// Lines of the database as lines of an archive.
import Domain
import Testing

@Suite("Writing lines of archives", .timeLimit(.minutes(1)))
struct WritingLines {
    @Test(
        "leaves out white space between values, and nothing within strings",
        arguments: [
            (#"{"a" : 1, "b":[ "x" ] }"#, #"{"a":1,"b":["x"]}"#), ("{\n\t\"a\":\r\n null }", #"{"a":null}"#),
            (#"{"a b":"c  d\" e \\" , "f":" \\\" "}"#, #"{"a b":"c  d\" e \\","f":" \\\" "}"#),
        ])
    func whiteSpace(_ text: String, _ expected: String) {
        let lines = ArchiveText.lines([JSONText(utf8: Array(text.utf8)), JSONText(utf8: Array("{}".utf8))])
        #expect(String(decoding: lines, as: UTF8.self) == expected + "\n{}\n")
    }
}
