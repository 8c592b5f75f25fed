// A new message, and its event as clients get it.
import Basics

/// What the log holds of a new message. All who read the log make the same bytes from it as the database's functions
/// `message_json` and `event_json` do: long polls, streams, the changes feed, webhooks, and the answer to the sender.
package struct CreatedMessage: Sendable {
    package var id: MessageID
    package var thread: ThreadID
    package var seq: Seq
    /// Nil: made by the server.
    package var sender: Sender?
    /// The `rawValue` of a `MessageType`, or a type that a newer node has written.
    package var type: String
    package var replyTo: MessageID?
    package var mentions: [UserID]
    /// When it was sent, by the database's clock.
    package var at: Timestamp
    package var expiresAt: Timestamp?

    /// The sender, as they were called when they sent it.
    package struct Sender: Sendable {
        package var id: UserID
        package var name: String
        package var image: String?

        package init(id: UserID, name: String, image: String?) {
            self.id = id
            self.name = name
            self.image = image
        }
    }

    package init(
        id: MessageID, thread: ThreadID, seq: Seq, sender: Sender?, type: String, replyTo: MessageID?,
        mentions: [UserID], at: Timestamp, expiresAt: Timestamp?
    ) {
        self.id = id
        self.thread = thread
        self.seq = seq
        self.sender = sender
        self.type = type
        self.replyTo = replyTo
        self.mentions = mentions
        self.at = at
        self.expiresAt = expiresAt
    }

    /// Returns the message as everybody sees it.
    /// - Parameter payload: JSON text.
    package func message(payload: some Collection<UInt8>) -> JSONText {
        var writer = JSONWriter(reserving: payload.count + 512)
        write(to: &writer, payload: payload)
        return JSONText(utf8: writer.utf8)
    }

    /// Returns its event.
    package func event(payload: some Collection<UInt8>) -> JSONText {
        event(of: message(payload: payload))
    }

    /// Returns its event. `message` is what `message(payload:)` has returned.
    package func event(of message: JSONText) -> JSONText {
        var writer = JSONWriter(reserving: message.utf8.count + 160)
        writer.raw(#"{"type":"message.created","thread_id":"#)
        writer.write(thread)
        writer.raw(#","at":"#)
        writer.write(at)
        writer.raw(#","data":"#)
        writer.raw(message)
        writer.raw("}")
        return JSONText(utf8: writer.utf8)
    }

    private func write(to writer: inout JSONWriter, payload: some Collection<UInt8>) {
        writer.raw(#"{"id":"#)
        writer.write(id)
        writer.raw(#","thread_id":"#)
        writer.write(thread)
        writer.raw(#","seq":"#)
        writer.write(seq.value)
        writer.raw(#","timestamp":"#)
        writer.write(at)
        writer.raw(#","type":"#)
        writer.write(type)
        writer.raw(#","sender":"#)
        if let sender {
            writer.raw(#"{"id":"#)
            writer.write(sender.id)
            writer.raw(#","name":"#)
            writer.write(sender.name)
            writer.raw(#","profile_image":"#)
            writer.write(sender.image) { $0.write($1) }
            writer.raw("}")
        } else {
            writer.raw("null")
        }
        writer.raw(#","payload":"#)
        writer.raw(payload)
        writer.raw(#","reply_to":"#)
        writer.write(replyTo) { $0.write($1) }
        writer.raw(#","mentions":["#)
        for (index, user) in mentions.enumerated() {
            if index > 0 { writer.raw(",") }
            writer.write(user)
        }
        writer.raw(#"],"reactions":{},"edited_at":null,"deleted_at":null,"expires_at":"#)
        writer.write(expiresAt) { $0.write($1) }
        writer.raw("}")
    }
}

extension JSONWriter {
    /// Writes an id as a string.
    fileprivate mutating func write(_ id: Identifier<some Any>) {
        writePlain(byteCountMax: MessageID.textByteCount) { id.write(to: $0) }
    }

    /// Writes a time as a string.
    fileprivate mutating func write(_ time: Timestamp) {
        writePlain(byteCountMax: Timestamp.textByteCount) { time.write(to: $0) }
    }

    /// Writes a value, or null without one.
    fileprivate mutating func write<Value>(_ value: Value?, _ write: (inout JSONWriter, Value) -> Void) {
        if let value { write(&self, value) } else { raw("null") }
    }
}
