// Files: as their owner sees them, and as messages carry them.
import Foundation

/// A file at the server.
public struct Attachment: Sendable, Hashable, Identifiable {
    /// The id, which its uploader chose.
    public var id: AttachmentID
    /// The name of the file, for people.
    public var name: String
    /// What the bytes are, by the server's judgement.
    public var contentType: String
    /// In bytes. Before the state is `ready`: the size that was declared, or else the bytes that have arrived.
    public var size: Int
    /// It is nil in messages: what a message carries is ready.
    public var state: AttachmentState?
    /// The width of a picture, in pixels as shown.
    public var width: Int?
    /// As `width`.
    public var height: Int?
    /// Of pictures: some 25 bytes in Base64 from which a blurred picture is drawn (thumbhash).
    public var thumbhash: String?
    /// Whether there is a thumbnail.
    public var hasThumbnail: Bool
    /// It is nil in messages.
    public var createdAt: Date?
    /// Fields that this version of the client does not know.
    public var unknown: [String: JSONValue] = [:]

    /// Creates an attachment, for example for a preview. Only its `id` counts in a message that is sent.
    public init(
        id: AttachmentID, name: String, contentType: String, size: Int, state: AttachmentState? = nil,
        width: Int? = nil, height: Int? = nil, thumbhash: String? = nil, hasThumbnail: Bool = false,
        createdAt: Date? = nil
    ) {
        self.id = id
        self.name = name
        self.contentType = contentType
        self.size = size
        self.state = state
        self.width = width
        self.height = height
        self.thumbhash = thumbhash
        self.hasThumbnail = hasThumbnail
        self.createdAt = createdAt
    }
}

extension Attachment: Codable {
    enum CodingKeys: String, CodingKey {
        case id, name, size, state, width, height, thumbhash
        case hasThumbnail = "thumbnail"
        case contentType = "content_type"
        case createdAt = "created_at"
    }

    public init(from decoder: any Decoder) throws {
        let fields = try FieldReader(decoder, CodingKeys.self)
        id = try fields[.id]
        // The contract requires only the id in a message. The server writes all the rest.
        name = try fields.optional(.name) ?? "file"
        contentType = try fields.optional(.contentType) ?? "application/octet-stream"
        size = try fields.optional(.size) ?? 0
        state = try fields.optional(.state)
        width = try fields.optional(.width)
        height = try fields.optional(.height)
        thumbhash = try fields.optional(.thumbhash)
        hasThumbnail = try fields.optional(.hasThumbnail) ?? false
        createdAt = try fields.optional(.createdAt)
        unknown = try fields.unknown
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = FieldWriter(encoder, CodingKeys.self)
        try fields.write(.id, id)
        try fields.write(.name, name)
        try fields.write(.contentType, contentType)
        try fields.write(.size, size)
        try fields.write(.state, state)
        try fields.write(.width, width)
        try fields.write(.height, height)
        try fields.write(.thumbhash, thumbhash)
        try fields.write(.hasThumbnail, hasThumbnail)
        try fields.write(.createdAt, createdAt)
        try fields.write(unknown)
    }
}

/// A signed link to a file or thumbnail. It works without a session's token until it expires.
public struct AttachmentLink: Sendable, Hashable, Codable {
    /// The link.
    public var url: URL
    /// When the link ends.
    public var expiresAt: Date

    enum CodingKeys: String, CodingKey {
        case url
        case expiresAt = "expires_at"
    }
}
