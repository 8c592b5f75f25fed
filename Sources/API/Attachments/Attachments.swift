// The list of the attachments' calls, and those without bytes.
import Domain

extension API {
    var attachmentRoutes: [Route] {
        let path = "/v1/attachments/{attachment_id}"
        return uploadRoutes + downloadRoutes + thumbnailRoutes + linkRoutes + [
            Route(.get, path + "/info", .getAttachmentInfo, .signedIn(attachmentInfo)),
            Route(.delete, path, .deleteAttachment, .signedIn(deleteAttachment)),
            Route(.post, path + "/received", .receiveAttachment, body: .unneeded, .signedIn(receiveAttachment)),
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
