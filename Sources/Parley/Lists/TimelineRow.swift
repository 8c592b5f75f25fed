// The rows of a timeline.
import Foundation

/// A row of a timeline, oldest first.
@nonexhaustive
public enum TimelineRow: Sendable, Equatable, Identifiable {
    /// A message of the thread. The user's own messages have a `Delivery`, in threads of up to 100 members.
    case message(Message, Delivery?)
    /// A message that waits to be sent. It becomes `message` under the same id.
    case outgoing(OutgoingMessage)
    /// The line before the first message that was unread when the timeline was opened.
    case divider
    /// Messages that this device does not have. The timeline fetches them.
    case hole(ClosedRange<Seq>)

    /// The identity of a row, for lists that animate.
    @nonexhaustive
    public enum ID: Hashable, Sendable {
        /// A message, sent or not.
        case message(MessageID)
        /// The divider, of which there is at most one.
        case divider
        /// The id of a hole is its first seq.
        case hole(Seq)
    }

    /// The identity of the row. A message keeps it when it has been sent.
    public var id: ID {
        switch self {
        case .message(let message, _): .message(message.id)
        case .outgoing(let message): .message(message.id)
        case .divider: .divider
        case .hole(let range): .hole(range.lowerBound)
        }
    }

    /// The message of the row; nil for any other row.
    public var message: Message? { if case .message(let message, _) = self { message } else { nil } }
}

/// How many members have received and read a message of the user's own.
public struct Delivery: Sendable, Hashable {
    /// The number of the other members.
    public var others: Int
    /// The number of other members who have the message on a device.
    public var delivered: Int
    /// The number of other members who have read the message.
    public var read: Int

    /// Makes a value, for example for a preview.
    public init(others: Int, delivered: Int, read: Int) {
        self.others = others
        self.delivered = delivered
        self.read = read
    }

    /// Whether every other member has the message.
    public var isDeliveredToAll: Bool { others > 0 && delivered == others }
    /// Whether every other member has read the message.
    public var isReadByAll: Bool { others > 0 && read == others }
}

/// Where a timeline begins.
@nonexhaustive
public enum TimelineAnchor: Sendable, Hashable {
    /// At the first unread message, or at the newest if all are read.
    case firstUnread
    /// The timeline begins at the newest message.
    case newest
    /// Around this seq.
    case seq(Seq)
    /// Around this message.
    case message(MessageID)
}
