// Thumbnails that clients make. The service's own are made after an upload.
import Cryptography
import Domain
import NIOCore
import Pictures
import Store

extension AttachmentCalls {
    var thumbnailRoutes: [Route] {
        [
            Route(
                .put, "/v1/attachments/{attachment_id}/thumbnail", .putThumbnail, body: .thumbnail,
                .signedIn(putThumbnail))
        ]
    }

    /// The type is what the bytes say. Metadata is removed, as from the picture itself.
    private func putThumbnail(_ call: Call, _ identity: Identity) async throws -> Answer {
        let picture = try CleanPicture(thumbnail: Array(call.request.body.readableBytesView))
        let stored = StoredVariant(
            mediaType: picture.mediaType.rawValue, byteCount: picture.bytes.count,
            digest: SHA256.digest(picture.bytes))
        return .json(
            try await store.putThumbnail(
                picture.bytes, stored, of: call.attachment(), owner: identity.user, rules: UploadRules(limits)))
    }
}

extension CleanPicture {
    /// Throws 415 for bytes that are no JPEG, PNG or WebP, and 422 for a picture that cannot be read, moves or is large.
    fileprivate init(thumbnail bytes: [UInt8]) throws(Problem) {
        switch MediaType.sniff(bytes) {
        case .jpeg, .png, .webp: break
        default: throw Problem(.unsupportedMediaType, "A thumbnail must be a JPEG, PNG or WebP picture.")
        }
        do {
            try self.init(cleaning: bytes)
        } catch {
            throw Problem.invalid("body", "Must be a whole picture that can be read: \(error).")
        }
        if let reason = header.thumbnailRefusal(sideMax: AttachmentSizes.thumbnailSideMax) {
            throw Problem.invalid("body", reason)
        }
    }
}
