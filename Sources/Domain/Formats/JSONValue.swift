// A JSON document as a value, without loss. JSONReader.swift reads it, JSONWriter.swift writes it.

/// A JSON value that keeps what was written: numbers keep their text, objects the order of their members.
///
/// Not Foundation's, because a payload must come out with the numbers that went in: `1e2`, `0.10` and integers past
/// 2^53 do not survive a `Double`. Unknown and repeated keys must be seen to be refused.
package enum JSONValue: Sendable {
    case object([Member])
    case array([JSONValue])
    case string(String)
    /// The text of the number in the document.
    case number(String)
    case bool(Bool)
    case null

    package struct Member: Sendable {
        package var key: String
        package var value: JSONValue
        package init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// A whole number.
    package static func integer(_ value: some BinaryInteger) -> JSONValue { .number(String(value)) }

    /// Null for nil.
    package static func string(orNull text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }

    /// The value of an object's member; nil if there is none, or if this is not an object. Walks the members.
    package subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key.utf8.elementsEqual(key.utf8) }?.value
    }

    package var string: String? { if case .string(let text) = self { text } else { nil } }
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var array: [JSONValue]? { if case .array(let items) = self { items } else { nil } }
    package var object: [Member]? { if case .object(let members) = self { members } else { nil } }

    /// A number written without fraction and exponent, within 64 bits.
    package var integer: Int64? { if case .number(let text) = self { Int64(text) } else { nil } }

    /// The nearest double of a number.
    package var double: Double? { if case .number(let text) = self { Double(text) } else { nil } }
}

/// Equal if both print the same bytes: the order of members and the spelling of numbers count, and so do code points of
/// texts that look alike.
extension JSONValue: Equatable {
    package static func == (left: JSONValue, right: JSONValue) -> Bool { left.compactText == right.compactText }
}

/// Why a text is not a JSON document that the service accepts.
package struct JSONError: Error, Equatable {
    package enum Reason: Equatable, Sendable {
        case unexpectedByte
        case unexpectedEnd
        case trailingBytes
        case notUTF8
        case loneSurrogate
        case tooDeep
        case tooManyValues
        case repeatedKey
        /// JSON allows it, but PostgreSQL cannot store it.
        case nulCharacter
        /// Outside a double's range, or longer than numbers need to be.
        case numberOutOfRange
    }

    package var reason: Reason
    /// The byte at which reading stopped, from 0.
    package var offset: Int
    /// The place in the document, as `payload.points[2]`; empty at the top.
    package var path = ""

    func inside(_ step: String) -> JSONError {
        var error = self
        error.path = FieldPath.join(step, path)
        return error
    }
}

extension Problem {
    /// 422 for a well-formed document with a value that cannot be stored, if its place is known; otherwise 400.
    package init(_ error: JSONError) {
        let what =
            switch error.reason {
            case .unexpectedByte: "a character that JSON does not allow there"
            case .unexpectedEnd: "the end of the text"
            case .trailingBytes: "text after the end of the document"
            case .notUTF8: "a string that is not UTF-8"
            case .loneSurrogate: "half of a surrogate pair"
            case .tooDeep: "arrays and objects nested more than \(JSONReader.depthMaxDefault) deep"
            case .tooManyValues: "more values than a body may have"
            case .repeatedKey: "a repeated key in an object"
            case .nulCharacter: "the character U+0000"
            case .numberOutOfRange:
                "a number outside a double's range, or with more than \(JSONReader.numberByteCountMax) characters"
            }
        switch error.reason {
        case .nulCharacter where !error.path.isEmpty, .numberOutOfRange where !error.path.isEmpty:
            self = .invalid(error.path, "Must not have \(what).")
        default:
            self.init(.malformedJSON, "The body is not valid JSON: found \(what) at byte \(error.offset).")
        }
    }
}
