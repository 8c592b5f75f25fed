// Numbers of JSON by their text.

/// A number with the text in which it was written.
public struct JSONNumber: Sendable {
    /// The number as it was written.
    public let text: String

    /// - Parameter text: a number as JSON writes it. The caller vouches for it.
    @usableFromInline
    package init(text: String) { self.text = text }

    /// A whole number, in digits.
    @inlinable
    public init(_ value: some BinaryInteger) { self.init(text: String(value)) }

    /// Returns nil for a value that is not finite.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        text = "\(value)"
    }

    /// The value of a number written without fraction and exponent, within 64 bits.
    public var integer: Int64? { Int64(text) }

    /// The nearest double.
    public var double: Double { Double(text) ?? .nan }
}

/// Numbers of the same value are equal, however they are written: `1`, `1.0` and `10e-1`.
extension JSONNumber: Hashable {
    private enum Value: Hashable {
        case integer(Int64)
        case double(Double)
    }

    private var value: Value {
        if let integer { return .integer(integer) }
        return Int64(exactly: double).map(Value.integer) ?? .double(double)
    }

    public static func == (left: JSONNumber, right: JSONNumber) -> Bool {
        left.text == right.text || left.value == right.value
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
