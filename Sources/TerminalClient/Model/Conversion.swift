// The client's values as the screens show them.
import Foundation
import Parley

extension Conversation {
    init(_ row: InboxRow) {
        let unsent: Unsent =
            switch row.unsent {
            case .none: .none
            case .sending: .sending
            case .failed: .failed
            }
        self.init(thread: row.thread, draft: row.draft, unsent: unsent, isPeerOnline: row.peerPresence?.isOnline)
    }
}

extension UnsentMessage {
    /// Returns nil if the message is sent or cancelled.
    init?(_ message: OutgoingMessage) {
        let state: State
        switch message.state {
        case .queued: state = .waiting
        case .uploading(let fraction): state = .uploading(fraction)
        case .sending: state = .sending
        case .pending: state = .pending
        case .failed(let error): state = .failed(Chat.words(error))
        case .sent, .cancelled: return nil
        }
        self.init(
            id: message.id, threadID: message.threadID, text: message.text ?? "", fileNames: message.files.map(\.name),
            replyTo: message.replyTo, state: state)
    }
}

extension TimelineEntry {
    init?(_ row: TimelineRow) {
        switch row {
        case .message(let message, let delivery): self = .message(message, delivery: delivery)
        case .outgoing(let message):
            guard let unsent = UnsentMessage(message) else { return nil }
            self = .unsent(unsent)
        case .divider: self = .divider
        case .hole(let range): self = .hole(from: range.lowerBound)
        }
    }
}

extension Connection {
    init(_ status: ConnectionStatus) {
        self =
            switch status {
            case .signedOut(let problem): .signedOut(reason: problem?.detail)
            case .suspended, .connecting: .connecting
            case .behind: .behind
            case .live: .live
            case .offline(let until, let reason): .offline(until: until, reason: "\(reason)")
            }
    }
}
