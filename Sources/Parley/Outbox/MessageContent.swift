// What an app sends.
import Foundation

/// The content of a new message, without its attachments.
public struct MessageContent: Sendable, Hashable {
    /// How to read the payload.
    public let type: MessageType
    /// What the message says.
    public let payload: Payload

    /// A text. An empty text is allowed only with attachments.
    public static func text(_ text: String) -> MessageContent {
        MessageContent(type: .message, payload: .text(text.isEmpty ? nil : text))
    }

    /// A message with attachments and no text.
    public static var files: MessageContent { .text("") }

    /// A place, for example where the user is.
    public static func location(_ place: LocationPayload) -> MessageContent {
        MessageContent(type: .location, payload: .location(place))
    }

    /// The server never looks into it.
    public static func encrypted(_ ciphertext: Data) -> MessageContent {
        MessageContent(type: .encrypted, payload: .encrypted(EncryptedPayload(ciphertext: ciphertext)))
    }

    /// A type of the app's own, which begins with `x-`.
    public static func custom(_ type: MessageType, _ payload: JSONValue) -> MessageContent {
        MessageContent(type: type, payload: .other(payload))
    }
}

/// A file to be sent with a message.
public struct OutgoingFile: Sendable, Hashable {
    enum Source: Sendable, Hashable {
        case file(URL)
        case data(Data)
        case stored(Attachment)
    }

    let source: Source
    let name: String
    let contentType: String?

    /// A file on this device. The client copies it, so that the app may delete it at once.
    public static func file(_ url: URL, name: String? = nil, contentType: String? = nil) -> OutgoingFile {
        OutgoingFile(source: .file(url), name: name ?? url.lastPathComponent, contentType: contentType)
    }

    /// Bytes in memory as a file. Without a content type the server decides by the bytes.
    public static func data(_ data: Data, name: String, contentType: String? = nil) -> OutgoingFile {
        OutgoingFile(source: .data(data), name: name, contentType: contentType)
    }

    /// A file that the server has: to forward it, or after an own upload.
    public static func attachment(_ attachment: Attachment) -> OutgoingFile {
        OutgoingFile(source: .stored(attachment), name: attachment.name, contentType: attachment.contentType)
    }
}
