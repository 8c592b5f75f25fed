// Ids of different things have different types, so that one cannot stand for another by mistake.
import Foundation

/// An opaque id, a lowercase UUID. Compare ids, and do not take them apart.
public struct Identifier<Subject>: StringValue {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }
}

/// The id of an account.
public typealias UserID = Identifier<User>
/// The id of a session: of a device.
public typealias SessionID = Identifier<Session>
/// The id of a thread.
public typealias ThreadID = Identifier<ThreadSummary>
/// The id of a message.
public typealias MessageID = Identifier<Message>
/// The id of an attachment.
public typealias AttachmentID = Identifier<Attachment>

extension Identifier where Subject == Message {
    /// A new random id. The client makes the id of a message, so that a send can be repeated.
    static func random() -> Self { .init(UUID().uuidString.lowercased()) }
}

extension Identifier where Subject == Attachment {
    /// A new random id. The client makes the id of an attachment, so that an upload can be resumed.
    static func random() -> Self { .init(UUID().uuidString.lowercased()) }
}
