// A message on its way, as an app sees it.
import Foundation

/// The state of a message that this device sends.
@nonexhaustive
public enum OutgoingState: Sendable, Hashable {
    /// The message waits for its turn, or for the server.
    case queued
    /// Its files are being uploaded: the part that has arrived, 0 to 1.
    case uploading(Double)
    /// The request is on its way.
    case sending
    /// The server has the message, under this seq.
    case sent(Seq)
    /// A moderator must approve the message. It is not sent again. It becomes `sent` when it is approved; a refusal is not
    /// announced, but `retry` learns of it.
    case pending
    /// The server refused the message. It stays until the app retries or cancels it.
    case failed(ParleyError)
    /// The app took the message back.
    case cancelled
}

/// A message in the outbox: what is sent, and how far it is.
public struct OutgoingMessage: Sendable, Identifiable {
    /// The message keeps this id when it is sent.
    public let id: MessageID
    /// The thread of the message.
    public let threadID: ThreadID
    /// How to read the payload.
    public let type: MessageType
    /// What the message says, without its files.
    public let payload: Payload
    /// The message that this one answers.
    public let replyTo: MessageID?
    /// The members whom the message mentions.
    public let mentions: [UserID]
    /// The files of the message.
    public let files: [File]
    /// The time when the app put the message into the outbox.
    public let createdAt: Date
    /// At the time at which this value was read. `states` follows it.
    public let state: OutgoingState

    /// A file of the message.
    public struct File: Sendable, Hashable, Identifiable {
        /// The id that the attachment has, or gets.
        public let id: AttachmentID
        /// The name for people.
        public let name: String
        /// Nil: the server decides by the bytes.
        public let contentType: String?
        /// Bytes.
        public let size: Int
        /// Where its bytes are on this device until they are uploaded.
        public let url: URL?
    }

    let outbox: Outbox

    /// The text of the payload; nil if it has none.
    public var text: String? { payload.text }

    /// Follows the state: first the present one, last `sent` or `cancelled`. A failed message may be retried.
    public var states: LiveValue<OutgoingState> { outbox.states(of: id, in: threadID) }

    /// Sends a failed message again, or asks about a pending one.
    public func retry() async throws { try await outbox.retry(id) }

    /// Removes the message from the outbox. Returns false if it is too late: the message is sent, or being sent. A message
    /// whose earlier try was not answered may have reached the server all the same.
    @discardableResult
    public func cancel() async throws -> Bool { try await outbox.cancel(id) }
}

extension OutgoingMessage: Equatable {
    public static func == (left: OutgoingMessage, right: OutgoingMessage) -> Bool {
        left.id == right.id && left.state == right.state && left.files == right.files
    }
}

extension OutgoingMessage {
    init(_ entry: OutboxEntry, outbox: Outbox) {
        id = entry.id
        threadID = entry.threadID
        type = MessageType(rawValue: entry.body["type"]?.string ?? "message")
        payload = Payload(type, stored: entry.body["payload"] ?? [:])
        replyTo = entry.body["reply_to"]?.string.map { MessageID($0) }
        mentions = (entry.body["mentions"]?.array ?? []).compactMap(\.string).map { UserID($0) }
        files = entry.files.map { file in
            File(
                id: file.id, name: file.name, contentType: file.contentType, size: file.size,
                url: file.copy.map { outbox.files.url($0) })
        }
        createdAt = entry.createdAt
        state = outbox.state(of: entry)
        self.outbox = outbox
    }
}
