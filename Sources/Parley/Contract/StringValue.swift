// Strings with a type of their own: ids, and the contract's words.

/// A string with a type of its own. An unknown word stays what it is, so new words of a newer server survive.
public protocol StringValue: RawRepresentable, Hashable, Codable, Sendable, ExpressibleByStringLiteral,
    CustomStringConvertible
where RawValue == String {
    init(_ rawValue: String)
}

extension StringValue {
    public init(rawValue: String) { self.init(rawValue) }
    public init(stringLiteral value: String) { self.init(value) }
    public var description: String { rawValue }
}
