// What problem documents say about JSON that cannot be read, and that the largest payload can.
import Domain
import Testing

@Suite("Unreadable JSON", .timeLimit(.minutes(1)))
struct UnreadableJSON {
    private func problem(_ text: String) throws -> Problem {
        Problem(try #require(throws: JSONError.self) { try JSONReader.read(Array(text.utf8)) })
    }

    @Test("names the field that has U+0000")
    func refusesNUL() throws {
        let problem = try problem(#"{"payload":{"parts":["a",{"text":"a\u0000b"}]}}"#)
        #expect(problem.code == .invalid)
        #expect(problem.fields.map(\.field) == ["payload.parts[1].text"])
    }

    @Test("calls U+0000 malformed where no field can be named")
    func refusesNULWithoutField() throws {
        for body in [#""\u0000""#, #"{"\u0000":1}"#] { #expect(try problem(body).code == .malformedJSON) }
    }

    @Test("is not the largest payload of the smallest values")
    func largestPayload() throws {
        let limits = Limits()
        let payload = "[" + String(repeating: "1,", count: limits.payloadByteCountMax / 2 - 2) + "1]"
        #expect(payload.utf8.count <= limits.payloadByteCountMax)
        _ = try JSONReader.read(
            Array("{\"payload\":{\"x\":\(payload)}}".utf8).span, .init(valueCountMax: limits.jsonValueCountMax))
    }
}
