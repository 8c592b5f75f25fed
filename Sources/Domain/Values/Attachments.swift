// Attachments: their ids, states and variants. Limits of uploads are here, because Store and API both check them.

package enum AttachmentKind: IdentifiedKind {}
package typealias AttachmentID = Identifier<AttachmentKind>

/// The life of an attachment. The raw values are stored.
package enum AttachmentState: Int16, Sendable, CaseIterable {
    /// Bytes are arriving, or the upload was interrupted and may continue.
    case receiving = 0
    /// All bytes have arrived. A node removes metadata, creates the thumbnail, and asks the virus scanner.
    case checking = 1
    case ready = 2
    /// The virus scanner refused it.
    case refused = 3
}

/// One of the byte sequences of an attachment. The raw values are stored.
package enum AttachmentVariant: Int16, Sendable, CaseIterable {
    case original = 0
    case thumbnail = 1
    /// The original without metadata, while it is being written. It replaces the original when it is complete.
    case cleaned = 2

    /// The key of the variant in the object store.
    package func objectKey(of attachment: AttachmentID) -> String { "parley/\(attachment)/\(rawValue)" }
}

/// Sizes, in bytes unless the name says otherwise.
package enum AttachmentSizes {
    /// A stored chunk. All chunks of a variant but the last have exactly this size.
    package static let chunkByteCount = 256 * 1024
    /// A thumbnail that a client uploads.
    package static let thumbnailByteCountMax = 256 * 1024
    /// Pixels of a thumbnail's longer side. A picture of few bytes may have more than a reader's memory holds.
    package static let thumbnailSideMax = 1_280
    /// Attachments of one message.
    package static let messageCountMax = 10
    package static let nameByteCountMax = 255
}
