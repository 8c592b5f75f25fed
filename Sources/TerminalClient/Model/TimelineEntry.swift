// What a timeline consists of.
import Foundation
import Parley

/// A message that is not at the server yet.
struct UnsentMessage: Hashable, Sendable, Identifiable {
    enum State: Hashable, Sendable {
        case waiting
        /// The progress is from 0 to 1.
        case uploading(Double)
        case sending
        /// The message waits for a moderator.
        case pending
        /// The reason is one sentence.
        case failed(String)
    }

    var id: MessageID
    var threadID: ThreadID
    var text: String
    var fileNames: [String] = []
    var replyTo: MessageID?
    var state: State
}

extension Delivery {
    /// One or two words for the right edge.
    var words: String {
        if isReadByAll { return "read" }
        if others > 1, read > 0 { return "read \(read)/\(others)" }
        return isDeliveredToAll ? "delivered" : "sent"
    }
}

enum TimelineEntry: Hashable, Sendable, Identifiable {
    case message(Message, delivery: Delivery?)
    case unsent(UnsentMessage)
    /// The line before the first unread message.
    case divider
    /// Messages that are being fetched.
    case hole(from: Seq)

    enum ID: Hashable, Sendable {
        case message(MessageID)
        case divider
        case hole(Seq)
    }

    var id: ID {
        switch self {
        case .message(let message, _): .message(message.id)
        case .unsent(let unsent): .message(unsent.id)
        case .divider: .divider
        case .hole(let seq): .hole(seq)
        }
    }

    var message: Message? { if case .message(let message, _) = self { message } else { nil } }
    var unsent: UnsentMessage? { if case .unsent(let unsent) = self { unsent } else { nil } }

    var isMessage: Bool {
        switch self {
        case .message, .unsent: true
        case .divider, .hole: false
        }
    }
}
