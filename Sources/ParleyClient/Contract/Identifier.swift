// Ids of different things have different types, so that one cannot stand for another by mistake.
import Foundation

/// An opaque id, a lowercase UUID. Compare ids, and do not take them apart.
public struct Identifier<Subject>: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public init(_ rawValue: String) { self.rawValue = rawValue }
}

extension Identifier: CustomStringConvertible, ExpressibleByStringLiteral, Codable {
    public var description: String { rawValue }

    public init(stringLiteral value: String) { rawValue = value }

    public init(from decoder: any Decoder) throws {
        rawValue = try decoder.singleValueContainer().decode(String.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var single = encoder.singleValueContainer()
        try single.encode(rawValue)
    }
}

public typealias UserID = Identifier<User>
public typealias SessionID = Identifier<Session>
public typealias ThreadID = Identifier<ThreadSummary>
public typealias MessageID = Identifier<Message>
public typealias AttachmentID = Identifier<Attachment>

extension Identifier where Subject == Message {
    /// A new random id. The client makes the id of a message, so that a send can be repeated.
    static func random() -> Self { .init(UUID().uuidString.lowercased()) }
}

extension Identifier where Subject == Attachment {
    static func random() -> Self { .init(UUID().uuidString.lowercased()) }
}

/// The number of a message in its thread: 1, 2, 3 … without a hole.
public typealias Seq = Int
