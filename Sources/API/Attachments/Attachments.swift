// The list of the attachments' calls, and those without bytes.
import Domain
import Logging
import Store

/// The calls on attachments. Uploads, Downloads and Access have those with bytes.
package struct AttachmentCalls: Sendable {
    let store: Store
    let authenticator: Authenticator
    let rates: RateLimits
    let reads: CallSlots<UserID>
    let limits: Limits
    let origins: PublicOrigins
    let attachments: AttachmentServices
    let signers: AccessSigners
    let uploads: TransferSlots
    let downloads: TransferSlots
    /// Every transfer is counted here.
    package let metrics: TransferMetrics
    let logger: Logger

    package init(_ services: CallServices, _ attachments: AttachmentServices) {
        (store, authenticator, rates) = (services.store, services.authenticator, services.rates)
        (reads, limits, origins) = (services.reads, services.limits, services.origins)
        (self.attachments, logger) = (attachments, services.logger)
        let metrics = TransferMetrics()
        signers = AccessSigners(store)
        uploads = TransferSlots(
            "uploads", countMax: limits.uploadCountMax, accountCountMax: limits.accountUploadCountMax,
            displaced: metrics.uploadsDisplaced)
        downloads = TransferSlots(
            "downloads", countMax: limits.downloadCountMax, accountCountMax: limits.accountDownloadCountMax,
            displaced: metrics.downloadsDisplaced)
        self.metrics = metrics
    }

    package var routes: [Route] {
        let path = "/v1/attachments/{attachment_id}"
        return uploadRoutes + downloadRoutes + thumbnailRoutes + linkRoutes + [
            Route(.get, path + "/info", .getAttachmentInfo, .signedIn(attachmentInfo)),
            Route(.delete, path, .deleteAttachment, .signedIn(deleteAttachment)),
            Route(
                .post, path + "/received", .receiveAttachment, body: .unneeded, repeats: .ignored,
                .signedIn(receiveAttachment)),
        ]
    }

    private func attachmentInfo(_ call: Call, _ identity: Identity) async throws -> Answer {
        .json(try await store.attachment(call.attachment(), for: identity.user))
    }

    private func deleteAttachment(_ call: Call, _ identity: Identity) async throws -> Answer {
        try await store.deleteAttachment(call.attachment(), owner: identity.user)
        return .noContent
    }

    private func receiveAttachment(_ call: Call, _ identity: Identity) async throws -> Answer {
        try await store.receivedAttachment(call.attachment(), by: identity)
        return .noContent
    }
}
