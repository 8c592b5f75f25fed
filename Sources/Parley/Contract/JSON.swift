// JSON as the client reads and writes it.
import Foundation
@_exported import ParleyFormats

/// A JSON value of any shape: payloads of an app's own, and fields that this version of the client does not know.
///
/// Numbers keep the text in which they were written, and objects the order of their members. So a value that the server
/// sent is written back unchanged.
public typealias JSONValue = ParleyFormats.JSONValue

extension JSONRules {
    /// What answers and the store may have. The server accepts 32 levels of a payload and adds a few. PostgreSQL writes
    /// numbers without an exponent: up to some 470 digits. An app's own text may have U+0000 until the server refuses it.
    static let answers = {
        var rules = JSONRules(depthMax: 128, characters: .kept)
        rules.numberByteCountMax = 1_024
        return rules
    }()
}

extension JSONValue {
    /// Reads a JSON document (RFC 8259). Throws `JSONError`.
    init(json data: Data) throws {
        self = try data.withUnsafeBytes { bytes in
            try JSONReader.read(bytes.bindMemory(to: UInt8.self).span, .answers)
        }
    }

    /// Like `init(json: Data)`.
    init(json text: String) throws {
        var text = text
        self = try text.withUTF8 { bytes in try JSONReader.read(bytes.span, .answers) }
    }

    /// The value as JSON, without spaces.
    var text: String { compactText.string }

    /// It is nil for null.
    var unlessNull: JSONValue? { isNull ? nil : self }
}

// Here, because in the server the literal of `Seq(7)` could then be JSON, too. Not by nil: where a value is optional, `nil`
// would sometimes mean null and sometimes absent.
extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// The last one of equal keys counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object([])
        for (key, value) in elements { self[key] = value }
    }
}
