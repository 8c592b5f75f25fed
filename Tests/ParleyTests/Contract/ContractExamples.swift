// The examples of answers and events in the documentation.

import Foundation
import Testing

@testable import Parley

@Suite("The examples in the documentation", .timeLimit(.minutes(1)))
struct ContractExamples {
    @Test("of schemas are read whole", arguments: ContractType.all)
    func schemas(_ type: ContractType) throws {
        for example in try Description.shared.get().schemas[type.schema]?["examples"]?.array ?? [] {
            #expect(try type.roundTrip(example).withoutNulls == example.withoutNulls)
        }
    }

    @Test("of a problem is read whole")
    func problem() throws {
        let example = try #require(Description.shared.get().schemas["Problem"]?["examples"]?.array?.first)
        let problem = Problem(HTTPResponse(status: 422, headers: [:], body: try example.data))
        #expect(problem.code == "invalid")
        #expect(problem.errors == [.init(field: "payload.text", detail: "Must not be empty.")])
        #expect(problem.document == example)
    }

    @Test("of events are read whole, each as its type")
    func events() throws {
        let blocks = try Self.blocks(of: "docs/events.md")
        #expect(blocks.count >= 18)
        for block in blocks {
            let document = try JSONDecoder().decode(JSONValue.self, from: Data(block.utf8))
            let event = try JSONDecoder().decode(Event.self, from: Data(block.utf8))
            if case .other = event.content { Issue.record("\(event.type) is not understood") }
            let again = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(event))
            #expect(again.withoutNulls == document.withoutNulls)
        }
    }

    @Test("of an expired cursor is read")
    func expired() throws {
        let block = try #require(Self.blocks(of: "docs/client-guide.md").first { $0.contains("cursor_expired") })
        let expired = try JSONDecoder().decode(CursorExpired.self, from: Data(block.utf8))
        #expect(expired.cursor == "AQAAAAEAAAAAAAAAKk4")
        #expect(expired.threads == [.init(id: "018f3c2a-0000-7abc-8def-0123456789ab", head: 42)])
    }

    /// The JSON blocks that are marked as examples.
    private static func blocks(of path: String) throws -> [String] {
        try Repository.text(path).matches(of: /<!-- example: [^>]*-->\n```json\n((?s).*?)\n```/).map { String($0.1) }
    }
}
