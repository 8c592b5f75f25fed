// docs/openapi.yaml as a value: its schemas, documents that fit them, and where a document differs.

import Foundation
import Testing
import Yams

@testable import Parley

struct Description: Sendable {
    static let shared = Result { try Description() }

    let root: JSONValue

    private init() throws {
        let text = try Repository.text("docs/openapi.yaml")
        root = JSONValue(yaml: try #require(try Yams.compose(yaml: text)))
    }

    /// All operations, as `operationId`, method, path and content.
    var operations: [(id: String, method: String, path: String, content: JSONValue)] {
        (root["paths"]?.dictionary ?? [:]).flatMap { path, item in
            (item.dictionary ?? [:]).compactMap { method, content in
                content["operationId"]?.string.map { ($0, method.uppercased(), path, content) }
            }
        }
    }

    /// The schemas by name.
    var schemas: [String: JSONValue] { root["components"]?["schemas"]?.dictionary ?? [:] }

    func resolved(_ node: JSONValue) -> JSONValue {
        guard let reference = node["$ref"]?.string else { return node }
        return reference.dropFirst(2).split(separator: "/").reduce(root) { $0[String($1)] ?? .null }
    }

    /// The properties that a schema and its parts (`allOf`) describe.
    func shape(_ given: JSONValue) -> (properties: [String: JSONValue], required: Set<String>) {
        let schema = resolved(given)
        var properties = schema["properties"]?.dictionary ?? [:]
        var required = Set(schema["required"]?.array?.compactMap(\.string) ?? [])
        for part in schema["allOf"]?.array ?? [] {
            let (more, needed) = shape(part)
            properties.merge(more) { $1 }
            required.formUnion(needed)
        }
        return (properties, required)
    }

    func isNullable(_ given: JSONValue) -> Bool {
        let schema = resolved(given)
        return schema.types.contains("null") || alternatives(schema).contains { isNullable($0) }
    }

    private func alternatives(_ schema: JSONValue) -> [JSONValue] { (schema["oneOf"] ?? schema["anyOf"])?.array ?? [] }

    /// A document that fits the schema and has all its properties.
    func sample(_ given: JSONValue) -> JSONValue {
        let schema = resolved(given)
        if let constant = schema["const"] ?? schema["enum"]?.array?.first { return constant }
        if let choice = alternatives(schema).first(where: { !$0.types.contains("null") || $0.types.count > 1 }) {
            return sample(choice)
        }
        switch schema.types.first(where: { $0 != "null" }) ?? "object" {
        case "array": return .array(schema["items"].map { [sample($0)] } ?? [])
        case "integer": return 7
        case "number": return 1.5
        case "boolean": return true
        case "string": return .string(Self.text(schema))
        default:
            let properties = shape(schema).properties
            if properties.isEmpty, let part = schema["allOf"]?.array?.first { return sample(part) }
            if let each = schema["additionalProperties"], each.object != nil { return ["👍": sample(each)] }
            return .object(properties.mapValues { sample($0) })
        }
    }

    private static func text(_ schema: JSONValue) -> String {
        switch (schema["format"]?.string, schema["contentEncoding"]?.string) {
        case ("uuid", _): "018f3c2a-1234-7abc-8def-0123456789ab"
        case ("date-time", _): "2026-11-21T10:00:00.123Z"
        case ("uri", _): "https://example.org/a"
        case (_, "base64"): "aGVsbG8="
        default: "text"
        }
    }

    /// Where a document differs from its schema.
    func mistakes(_ value: JSONValue, _ given: JSONValue, at path: String = "body") -> [String] {
        let schema = resolved(given)
        let choices = alternatives(schema)
        guard choices.isEmpty else {
            let isFine = choices.contains { mistakes(value, $0, at: path).isEmpty }
            return isFine ? [] : ["\(path) fits none of the forms: \(value)"]
        }
        if !schema.types.isEmpty, !schema.types.contains(where: value.isOf) { return ["\(path) is no \(schema.types)"] }
        if let words = schema["enum"]?.array, !words.contains(value) { return ["\(path) is not in the enum"] }
        if let constant = schema["const"], constant != value { return ["\(path) is not the constant"] }
        if let items = schema["items"], let values = value.array {
            return values.flatMap { mistakes($0, items, at: path + "[]") }
        }
        guard let members = value.dictionary else { return [] }
        let (properties, required) = shape(schema)
        let lacking = required.subtracting(members.keys).map { "\(path) lacks \($0)" }
        guard !properties.isEmpty || schema["additionalProperties"] == false else { return lacking }
        return lacking
            + members.flatMap { name, member in
                properties[name].map { mistakes(member, $0, at: "\(path).\(name)") }
                    ?? (schema["additionalProperties"] == false ? ["\(path).\(name) is not described"] : [])
            }
    }
}

extension JSONValue {
    /// Converts a YAML document that uses only JSON's kinds of values.
    fileprivate init(yaml node: Node) {
        switch node {
        case .mapping(let mapping):
            self = .object(Dictionary(mapping.map { ($0.key.string ?? "", Self(yaml: $0.value)) }) { $1 })
        case .sequence(let sequence): self = .array(sequence.map { Self(yaml: $0) })
        case .scalar(let scalar):
            self =
                switch node.tag.description {
                case "tag:yaml.org,2002:bool": .bool(scalar.string == "true")
                case "tag:yaml.org,2002:int": .integer(Int64(scalar.string) ?? 0)
                case "tag:yaml.org,2002:float": .double(Double(scalar.string) ?? 0)
                case "tag:yaml.org,2002:null": .null
                default: .string(scalar.string)
                }
        case .alias: self = .null
        }
    }

    /// `type` of a schema.
    fileprivate var types: [String] {
        self["type"]?.string.map { [$0] } ?? self["type"]?.array?.compactMap(\.string) ?? []
    }

    fileprivate func isOf(_ type: String) -> Bool {
        switch self {
        case .object: type == "object"
        case .array: type == "array"
        case .string: type == "string"
        case .number: type == "number" || type == "integer" && integer != nil
        case .bool: type == "boolean"
        case .null: type == "null"
        }
    }

    /// Without members that are null: to write such a member and to leave it out mean the same.
    var withoutNulls: JSONValue {
        switch self {
        case .object(let members):
            .object(members.filter { !$0.value.isNull }.map { .init($0.key, $0.value.withoutNulls) })
        case .array(let items): .array(items.map(\.withoutNulls))
        default: self
        }
    }

    var data: Data { get throws { try JSONEncoder().encode(self) } }
}

enum Repository {
    static func text(_ path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }
}
