// Checks every answer that a test of this target receives against docs/openapi.yaml: status, media type, shape.
import API
import Domain
import Testing
import Yams

/// The OpenAPI document, and the part of JSON Schema that it uses. A member that it does not list is a mistake, too.
struct Description: Sendable {
    static let shared = Result { try Description() }

    private let root: JSONValue

    private init() throws { root = try JSONValue(try #require(try Yams.compose(yaml: OpenAPI.text))) }

    /// Returns the differences between an answer and its description. Unknown paths and methods have no description
    /// and return no mistakes.
    func mistakes(method: String, path: String, reply: Reply) -> [String] {
        guard method != "HEAD", let operation = operation(method, path) else { return [] }
        guard let response = operation["responses"]?[String(reply.status)].map(resolved) else {
            return ["status \(reply.status) is not described"]
        }
        guard let content = response["content"]?.object else {
            return reply.body.isEmpty ? [] : ["a body where none is described"]
        }
        let type = String((reply.headers["content-type"] ?? "").prefix { $0 != ";" })
        guard let schema = content.first(where: { $0.key == type })?.value["schema"] else { return ["type \(type)"] }
        guard type.hasSuffix("json"), type != "application/x-ndjson" else { return [] }
        guard let json = reply.json else { return ["not JSON"] }
        return mistakes(json, schema, at: "")
    }

    private func operation(_ method: String, _ path: String) -> JSONValue? {
        let segments = path.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
        let matches = (root["paths"]?.object ?? []).filter { item in
            let pattern = item.key.split(separator: "/", omittingEmptySubsequences: false)
            return pattern.count == segments.count
                && zip(pattern, segments).allSatisfy { $0.first == "{" && !$1.isEmpty || $0 == $1 }
        }
        let literal = matches.min { $0.key.count(where: { $0 == "{" }) < $1.key.count(where: { $0 == "{" }) }
        return literal?.value[method.lowercased()]
    }

    private func resolved(_ node: JSONValue) -> JSONValue {
        guard let reference = node["$ref"]?.string else { return node }
        return reference.dropFirst(2).split(separator: "/").reduce(root) { $0[String($1)] ?? .null }
    }

    private func mistakes(_ value: JSONValue, _ given: JSONValue, at path: String) -> [String] {
        let schema = resolved(given)
        if let any = (schema["oneOf"] ?? schema["anyOf"])?.array {
            let fits = any.contains { mistakes(value, $0, at: path).isEmpty }
            return fits ? [] : ["\(path): none of those described fits \(String(describing: value))"]
        }
        var found: [String] = []
        if let types = schema["type"] {
            let names = types.string.map { [$0] } ?? types.array?.compactMap(\.string) ?? []
            if !names.contains(where: { value.isOf(type: $0) }) { return ["\(path): is no \(names)"] }
        }
        if let allowed = schema["enum"]?.array, !allowed.contains(value) { found.append("\(path): not in the enum") }
        if let constant = schema["const"], constant != value { found.append("\(path): not the constant") }
        if let number = value.double {
            if let least = schema["minimum"]?.double, number < least { found.append("\(path): below the minimum") }
            if let most = schema["maximum"]?.double, number > most { found.append("\(path): above the maximum") }
        }
        if let text = value.string {
            switch schema["format"]?.string {
            case "uuid" where UserID(parsing: text)?.description != text: found.append("\(path): no lower case UUID")
            case "date-time" where Timestamp(parsing: text)?.description != text: found.append("\(path): no time")
            default: break
            }
        }
        if let items = schema["items"] {
            for (index, item) in (value.array ?? []).enumerated() {
                found += mistakes(item, items, at: "\(path)[\(index)]")
            }
        }
        return found + memberMistakes(value, schema, at: path)
    }

    private func memberMistakes(_ value: JSONValue, _ schema: JSONValue, at path: String) -> [String] {
        guard let members = value.object else { return [] }
        let (properties, required) = shape(schema)
        var found = required.filter { value[$0] == nil }.map { "\(path): lacks \($0)" }
        if properties.isEmpty {
            if let each = schema["additionalProperties"], each.object != nil {
                for member in members { found += mistakes(member.value, each, at: "\(path).\(member.key)") }
            }
            return found
        }
        for member in members {
            guard let property = properties[member.key] else {
                found.append("\(path): \(member.key) is not described")
                continue
            }
            found += mistakes(member.value, property, at: "\(path).\(member.key)")
        }
        return found
    }

    /// The members that a schema and its parts (`allOf`) describe.
    private func shape(_ given: JSONValue) -> (properties: [String: JSONValue], required: [String]) {
        let schema = resolved(given)
        var properties: [String: JSONValue] = [:]
        for member in schema["properties"]?.object ?? [] { properties[member.key] = member.value }
        var required = schema["required"]?.array?.compactMap(\.string) ?? []
        for part in schema["allOf"]?.array ?? [] {
            let (more, needed) = shape(part)
            properties.merge(more) { $1 }
            required += needed
        }
        return (properties, required)
    }
}

extension JSONValue {
    /// Converts a YAML document that uses only JSON's kinds of values.
    fileprivate init(_ node: Node) throws {
        switch node {
        case .mapping(let mapping):
            self = .object(try mapping.map { Member($0.key.string ?? "", try JSONValue($0.value)) })
        case .sequence(let sequence): self = .array(try sequence.map { try JSONValue($0) })
        case .scalar(let scalar):
            switch node.tag.description {
            case "tag:yaml.org,2002:bool": self = .bool(scalar.string == "true")
            case "tag:yaml.org,2002:int", "tag:yaml.org,2002:float": self = .number(JSONNumber(text: scalar.string))
            case "tag:yaml.org,2002:null": self = .null
            default: self = .string(scalar.string)
            }
        case .alias: throw Problem(.internalError, "The description has no aliases.")
        }
    }

    fileprivate func isOf(type: String) -> Bool {
        switch self {
        case .object: type == "object"
        case .array: type == "array"
        case .string: type == "string"
        case .number: type == "number" || (type == "integer" && integer != nil)
        case .bool: type == "boolean"
        case .null: type == "null"
        }
    }
}
