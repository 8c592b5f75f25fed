// Changes of single fields: an absent field stays, and null removes the value.
import Foundation

/// What a call does to a field that may be empty.
public enum FieldChange<Value: Sendable>: Sendable {
    /// The field stays as it is.
    case unchanged
    /// Sets the field; nil removes its value.
    case set(Value?)
}

extension JSONValue {
    /// A date as the contract writes it.
    init(_ date: Date) { self = .string(date.rfc3339) }

    init(_ value: some StringValue) { self = .string(value.rawValue) }

    init(_ value: Int) { self = .integer(value) }

    /// An object without the fields that are nil.
    static func fields(_ fields: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        .object(fields.compactMap { key, value in value.map { Member(key, $0) } })
    }
}

extension FieldChange {
    /// The field in a request: nil if it is left out.
    func json(_ form: (Value) -> JSONValue) -> JSONValue? {
        switch self {
        case .unchanged: nil
        case .set(let value): .some(value.map(form) ?? .null)
        }
    }
}
