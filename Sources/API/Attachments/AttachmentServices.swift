// What the attachment calls need of the node besides the database.
import Domain

/// The object store as downloads use it.
package protocol ObjectAccess: Sendable {
    /// Returns some bytes of an object, or nil if there is no such object.
    /// - Throws: any error while the store cannot be reached. The client then gets 503.
    func read(_ key: String, _ range: Range<Int>) async throws -> [UInt8]?

    /// A signed URL with which the client itself may get the object for some minutes. Nil if downloads go through the
    /// node.
    /// - Parameters:
    ///   - type: the `Content-Type` that the store must answer with.
    ///   - disposition: the `Content-Disposition` that the store must answer with.
    func url(of key: String, type: String, disposition: String) -> String?
}

/// What the attachment calls need of the node besides the database.
package struct AttachmentServices: Sendable {
    /// Checks a complete upload of an account: metadata, thumbnail, virus scan. Returns when the attachment has left the
    /// state `checking`, or after some seconds.
    let check: @Sendable (AttachmentID, UserID) async -> Void
    /// Nil if all bytes are in the database.
    let objects: (any ObjectAccess)?
    /// Whether pages of other origins may show attachments.
    let allowsOtherOrigins: Bool
    /// Whether resumable uploads get a 104 interim answer (`PARLEY_UPLOAD_104`).
    let sendsInterimAnswers: Bool
    /// The life of the media cookie: that of an unused session.
    let cookieSeconds: Int

    package init(
        check: @escaping @Sendable (AttachmentID, UserID) async -> Void, objects: (any ObjectAccess)?,
        allowsOtherOrigins: Bool, sendsInterimAnswers: Bool, cookieSeconds: Int
    ) {
        self.check = check
        self.objects = objects
        self.allowsOtherOrigins = allowsOtherOrigins
        self.sendsInterimAnswers = sendsInterimAnswers
        self.cookieSeconds = cookieSeconds
    }
}
