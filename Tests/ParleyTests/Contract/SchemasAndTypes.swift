// Every schema that has a Swift type: the type knows all properties, and which of them may be absent or null.

import Foundation
import Testing

@testable import Parley

@Suite("The schemas of docs/openapi.yaml", .timeLimit(.minutes(1)))
struct SchemasAndTypes {
    let description: Description

    init() throws { description = try Description.shared.get() }

    @Test("each have a type, or are left out")
    func complete() {
        let known = ContractType.all.map(\.schema) + ContractType.leftOut.values.joined()
        #expect(
            Set(description.schemas.keys).symmetricDifference(known).sorted() == [],
            "Each needs an entry in Tests/ParleyTests/Contract/ContractTypes.swift: its type, or why it has none.")
        #expect(Set(known).count == known.count)
    }

    /// Codes that only the calls of operators and integrations answer.
    private static let operatorCodes: Set<String> = [
        "command_not_found", "consumer_not_found", "cursor_behind", "email_taken", "external_id_taken",
        "failure_not_found", "failure_not_retryable",
        "review_decided", "review_not_approvable", "review_not_found", "hold_not_found", "hold_released",
        "hook_not_found", "invitation_not_found", "key_not_found", "not_a_member",
        "scope_missing", "thread_kind_differs", "import_ended", "import_superseded", "report_not_found",
        "too_many_commands", "too_many_consumers",
        "too_many_sessions", "too_many_webhooks", "webhook_not_found", "word_taken",
    ]

    @Test("have a constant for each code of a refusal that users meet, and each type of an event")
    func words() throws {
        for (schema, file, own) in [
            (description.schemas["ProblemCode"], "ProblemCodes", ["unexpected_answer"]),
            (description.schemas["Event"]?["properties"]?["type"], "EventType", []),
        ] {
            let words =
                (schema?["enum"]?.array ?? []).compactMap(\.string).filter { !Self.operatorCodes.contains($0) } + own
            let source = try Repository.text("Sources/Parley/Contract/\(file).swift")
            let constants = source.matches(of: /public static let \w+: Self = "(.*)"/).map { String($0.1) }
            #expect(constants == words, "Sources/Parley/Contract/\(file).swift must have the words of openapi.yaml.")
        }
    }

    @Test("have no property that the type does not know", arguments: ContractType.all)
    func properties(_ type: ContractType) throws {
        let sample = description.sample(try schema(of: type))
        #expect(try type.roundTrip(sample).withoutNulls == sample.withoutNulls)
        #expect(unknownFields(in: try type.decode(sample)) == [])
    }

    @Test("agree with the type on what may be absent or null", arguments: ContractType.all)
    func presence(_ type: ContractType) throws {
        let schema = try schema(of: type)
        let sample = description.sample(schema)
        let (properties, required) = description.shape(schema)
        for (name, property) in properties {
            var without = sample
            without[name] = nil
            var null = sample
            null[name] = .null
            if description.isNullable(property) {
                #expect(throws: Never.self, "\(name) may be null") { _ = try type.decode(null) }
            } else if required.contains(name), Self.lenient[type.schema]?.contains(name) != true {
                #expect(throws: DecodingError.self, "\(name) is required") { _ = try type.decode(without) }
            }
            if !required.contains(name) {
                #expect(throws: Never.self, "\(name) may be absent") { _ = try type.decode(without) }
            }
        }
    }

    /// One type reads both forms of an attachment, and both forms of a session.
    private static let lenient: [String: Set<String>] = [
        "Attachment": ["name", "content_type", "size", "state", "thumbnail", "created_at"], "NewSession": ["token"],
    ]

    private func schema(of type: ContractType) throws -> JSONValue { try #require(description.schemas[type.schema]) }

    /// The names of all fields that a value, or a value in it, does not know.
    private func unknownFields(in value: Any) -> [String] {
        if value is JSONValue { return [] }
        return Mirror(reflecting: value).children.flatMap { child in
            if child.label == "unknown", let fields = child.value as? [String: JSONValue] { return Array(fields.keys) }
            return unknownFields(in: child.value)
        }
    }
}
