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
    package var check: @Sendable (AttachmentID, UserID) async -> Void
    /// It is nil if all bytes are in the database.
    package var objects: (any ObjectAccess)?
    /// The routes count every transfer here.
    package var metrics: TransferMetrics
    /// Whether clients reach this node by TLS without a proxy. It decides the scheme of links.
    package var usesTLS: Bool
    /// The origin of all links and of the addresses of hooks (`PARLEY_PUBLIC_URL`); nil: that of the request.
    package var publicURL: String?
    /// Whether pages of other origins may show attachments.
    package var allowsOtherOrigins: Bool
    /// Whether resumable uploads get a 104 interim answer (`PARLEY_UPLOAD_104`).
    package var sendsInterimAnswers: Bool
    /// The life of the media cookie: that of an unused session.
    package var cookieSeconds: Int

    package init(
        check: @escaping @Sendable (AttachmentID, UserID) async -> Void = { _, _ in },
        objects: (any ObjectAccess)? = nil,
        metrics: TransferMetrics = TransferMetrics(), usesTLS: Bool = false, publicURL: String? = nil,
        allowsOtherOrigins: Bool = false, sendsInterimAnswers: Bool = false,
        cookieSeconds: Int = 90 * 86_400
    ) {
        self.check = check
        self.objects = objects
        self.metrics = metrics
        self.usesTLS = usesTLS
        self.publicURL = publicURL
        self.allowsOtherOrigins = allowsOtherOrigins
        self.sendsInterimAnswers = sendsInterimAnswers
        self.cookieSeconds = cookieSeconds
    }
}
