// What a newer server sends survives in an older client.

import Foundation
import Testing

@testable import Parley

@Suite("What the client does not know", .timeLimit(.minutes(1)))
struct UnknownFields {
    private static let new: JSONValue = ["list": [1, .null, true, "x", 1.5, -7], "large": 9_007_199_254_740_993]

    @Test(
        "survives in resources",
        arguments: ["User", "Account", "Thread", "Message", "Member", "Attachment", "Preferences"])
    func fields(_ name: String) throws {
        let description = try Description.shared.get()
        let type = try #require(ContractType.all.first { $0.schema == name })
        var sample = description.sample(try #require(description.schemas[name]))
        sample["new_field"] = Self.new
        #expect(try type.roundTrip(sample).withoutNulls == sample.withoutNulls)
    }

    @Test("survives in the payload of a message, and in its attachments")
    func payload() throws {
        let document: JSONValue = [
            "text": "hi", "app": ["colour": "red"],
            "attachments": [
                [
                    "id": "018f3c2a-4321-7abc-8def-0123456789ab", "name": "a", "content_type": "text/plain", "size": 1,
                    "thumbnail": false, "new": Self.new,
                ]
            ],
        ]
        #expect(try roundTrip(document, as: TextPayload.self) == document)
    }

    @Test("survives as the type of an event")
    func eventType() throws {
        let document: JSONValue = [
            "type": "poll.closed", "at": "2026-11-21T10:00:00.123Z", "data": ["poll": Self.new], "new": 1,
        ]
        let event = try JSONDecoder().decode(Event.self, from: document.data)
        #expect(event.content == .other(["poll": Self.new]))
        #expect(event.unknown == ["new": 1])
        #expect(try roundTrip(document, as: Event.self) == document)
    }

    @Test("does not stop a known event of another form")
    func eventForm() throws {
        let data: JSONValue = ["id": 5]
        let document: JSONValue = ["type": "message.created", "at": "2026-11-21T10:00:00.123Z", "data": data]
        #expect(try JSONDecoder().decode(Event.self, from: document.data).content == .other(data))
    }

    @Test("does not stop a message with a payload of another form")
    func payloadForm() throws {
        let description = try Description.shared.get()
        var document = description.sample(try #require(description.schemas["Message"]))
        document["type"] = "location"
        document["payload"] = ["place": "Berlin"]
        let message = try JSONDecoder().decode(Message.self, from: document.data)
        #expect(message.payload == .other(["place": "Berlin"]))
    }

    @Test("survives as a word")
    func words() throws {
        let role: [Role] = try JSONDecoder().decode([Role].self, from: Data(#"["owner", "auditor"]"#.utf8))
        #expect(role == [.owner, "auditor"])
        #expect(try JSONEncoder().encode(role) == Data(#"["owner","auditor"]"#.utf8))
    }

    @Test("survives as a retention and as a platform for alerts")
    func forms() throws {
        let retention: JSONValue = ["keep": "count", "messages": 100]
        #expect(try roundTrip(retention, as: Retention.self) == retention)
        let target: JSONValue = ["platform": "pigeon", "loft": 7]
        #expect(try roundTrip(target, as: PushTarget.self) == target)
    }

    private func roundTrip<Value: Codable>(_ document: JSONValue, as _: Value.Type) throws -> JSONValue {
        let value = try JSONDecoder().decode(Value.self, from: document.data)
        return try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
    }
}
