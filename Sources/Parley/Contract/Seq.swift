// The numbers of messages have a type of their own, so that a count or a time cannot take their place by mistake.

/// The number of a message in its thread: 1, 2, 3 … without a hole. 0 is the place before the first message.
public struct Seq: RawRepresentable, Hashable, Codable, Sendable {
    /// The number.
    public let rawValue: Int

    /// Makes the seq of a number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Makes the seq of a number.
    public init(_ number: Int) { rawValue = number }

    /// A seq after every message.
    static let max = Seq(.max)

    static func + (seq: Seq, count: Int) -> Seq { seq.advanced(by: count) }
    static func - (seq: Seq, count: Int) -> Seq { seq.advanced(by: -count) }
}

extension Seq: Comparable, Strideable {
    /// Whether a message is earlier than another one of the same thread.
    public static func < (left: Seq, right: Seq) -> Bool { left.rawValue < right.rawValue }

    /// How many messages later the other one is.
    public func distance(to other: Seq) -> Int { other.rawValue - rawValue }

    /// The seq so many messages later; earlier for a negative number.
    public func advanced(by count: Int) -> Seq { Seq(rawValue + count) }
}

extension Seq: ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// Makes the seq of a literal.
    public init(integerLiteral value: Int) { self.init(value) }

    /// The number in digits.
    public var description: String { String(rawValue) }
}

extension JSONValue {
    init(_ seq: Seq) { self.init(seq.rawValue) }

    /// The number as a seq.
    var seq: Seq? { int.map { Seq($0) } }
}
