// Comparing and coding JSON values.

/// Equal if both mean the same: the order of members and the spelling of numbers do not count. `compactText` compares
/// them, too.
extension JSONValue: Hashable {
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.object(let members), .object(let others)):
            // Mostly in the same order, as both came from one writer.
            members.elementsEqual(others) { $0.key == $1.key && $0.value == $1.value }
                || members.count == others.count && left.dictionary == right.dictionary
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .number(let value): hasher.combine(value)
        case .string(let value): hasher.combine(value)
        case .array(let items): hasher.combine(items)
        case .object: hasher.combine(dictionary)
        }
    }
}

/// With Foundation's coders, which read numbers as integers of 64 bits or as doubles.
extension JSONValue: Codable {
    private struct MemberKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue _: Int) { nil }
    }

    public init(from decoder: any Decoder) throws {
        let single = try decoder.singleValueContainer()
        // A failed attempt costs a microsecond, so the likely forms come first.
        if single.decodeNil() {
            self = .null
        } else if let value = try? single.decode(String.self) {
            self = .string(value)
        } else if let members = try? single.decode([String: JSONValue].self) {
            self = .object(members)
        } else if let value = try? single.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? single.decode(Bool.self) {
            self = .bool(value)
        } else if let items = try? single.decode([JSONValue].self) {
            self = .array(items)
        } else {
            self = .double(try single.decode(Double.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var single = encoder.singleValueContainer()
        switch self {
        case .null: try single.encodeNil()
        case .bool(let value): try single.encode(value)
        case .number(let value):
            if let integer = value.integer { try single.encode(integer) } else { try single.encode(value.double) }
        case .string(let value): try single.encode(value)
        case .array(let items): try single.encode(items)
        case .object(let members):
            var keyed = encoder.container(keyedBy: MemberKey.self)
            for member in members { try keyed.encode(member.value, forKey: MemberKey(stringValue: member.key)) }
        }
    }
}
