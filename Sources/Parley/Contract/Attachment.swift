// Files: as their owner sees them, and as messages carry them.
import Foundation

/// A file at the server.
public struct Attachment: Sendable, Hashable, Codable, Identifiable {
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

extension Attachment: FieldCoded {
    static var blank: Self { Self(id: "", name: "", contentType: "", size: 0) }

    mutating func code(_ fields: inout FieldCoder) throws {
        try fields.code(&id, "id")
        // The contract requires only the id in a message. The server writes all the rest.
        try fields.code(&name, "name", absent: "file")
        try fields.code(&contentType, "content_type", absent: "application/octet-stream")
        try fields.code(&size, "size", absent: 0)
        try fields.code(&state, "state")
        try fields.code(&width, "width")
        try fields.code(&height, "height")
        try fields.code(&thumbhash, "thumbhash")
        try fields.code(&hasThumbnail, "thumbnail", absent: false)
        try fields.code(&createdAt, "created_at")
        try fields.code(unknown: &unknown)
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
