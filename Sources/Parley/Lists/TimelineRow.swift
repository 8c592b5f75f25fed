// The rows of a timeline.
import Foundation

/// A row of a timeline, oldest first.
@nonexhaustive
public enum TimelineRow: Sendable, Equatable, Identifiable {
    /// A message of the thread. Own messages in threads of up to 100 members say how far they have come.
    case message(Message, Delivery?)
    /// A message that waits to be sent. It becomes `message` under the same id.
    case outgoing(OutgoingMessage)
    /// Stands before the first message that was unread when the timeline was opened.
    case divider
    /// Messages that this device does not have. The timeline fetches them.
    case hole(ClosedRange<Seq>)

    @nonexhaustive
    public enum ID: Hashable, Sendable {
        case message(MessageID)
        case divider
        /// By its first seq.
        case hole(Seq)
    }

    public var id: ID {
        switch self {
        case .message(let message, _): .message(message.id)
        case .outgoing(let message): .message(message.id)
        case .divider: .divider
        case .hole(let range): .hole(range.lowerBound)
        }
    }

    public var message: Message? { if case .message(let message, _) = self { message } else { nil } }
}

/// How far an own message has come.
public struct Delivery: Sendable, Hashable {
    /// The other members, those who have the message on a device, and those who have read it.
    public var others: Int
    public var delivered: Int
    public var read: Int

    public init(others: Int, delivered: Int, read: Int) {
        self.others = others
        self.delivered = delivered
        self.read = read
    }

    public var isDeliveredToAll: Bool { others > 0 && delivered == others }
    public var isReadByAll: Bool { others > 0 && read == others }
}

/// Where a timeline begins.
@nonexhaustive
public enum TimelineAnchor: Sendable, Hashable {
    /// At the first unread message, or at the newest if all are read.
    case firstUnread
    case newest
    case seq(Seq)
    case message(MessageID)
}
