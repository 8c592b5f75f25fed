// Ways to show an attachment where no Authorization header can be sent: signed links, and a cookie for our own pages.
import Basics
import Domain
import HTTPTypes
import Transport

extension AttachmentCalls {
    var linkRoutes: [Route] {
        [
            Route(.post, "/v1/attachments/{attachment_id}/link", .linkAttachment, body: .small, .signedIn(link)),
            Route(
                .post, "/v1/sessions/current/media-cookie", .setMediaCookie, body: .unneeded, repeats: .ignored,
                .signedIn(setCookie)),
        ]
    }

    /// Opening the file first tells whether the caller may see it, and whether it has a thumbnail.
    private func link(_ call: Call, _ identity: Identity) async throws -> Answer {
        let asked = try await call.fields(isOptional: true, LinkRequest.init)
        let target = LinkTarget(attachment: try call.attachment(), variant: asked.variant)
        let origin = try origins.text(for: call)
        _ = try await reads.run(for: identity.user) {
            try await store.openAttachment(target.attachment, variant: target.variant, for: .user(identity.user))
        }
        let endMs = asked.endMs(nowMs: WallClock.ms)
        let text = try await signers.current().link(to: target, for: identity, endMs: endMs)
        let path = "/v1/attachments/\(target.attachment)" + (target.variant == .thumbnail ? "/thumbnail" : "")
        var writer = JSONWriter(reserving: 320)
        writer.raw("{\"url\":")
        writer.write("\(origin)\(path)?\(Self.linkParameter)=\(text)")
        writer.raw(",\"expires_at\":")
        writer.write(Timestamp(microsSince1970: endMs * 1_000).description)
        writer.raw("}")
        return .json(JSONText(utf8: writer.utf8))
    }

    private func setCookie(_ call: Call, _ identity: Identity) async throws -> Answer {
        // That of the request, because the browser decides by it whether it keeps the cookie.
        let origin = try origins.ofRequest(call)
        let value = try await signers.current().cookie(for: identity)
        var answer = Answer.noContent
        answer.headers[.setCookie] =
            "\(Self.mediaCookie)=\(value); Path=/v1/attachments; Max-Age=\(attachments.cookieSeconds); "
            + "HttpOnly; SameSite=Strict" + (origin.isPlainLoopback ? "" : "; Secure")
        return answer
    }
}

/// The body of a request for a link.
struct LinkRequest: Equatable {
    static let secondsMax = 86_400
    private static let secondsDefault = 3_600
    /// Shorter links are not rounded.
    private static let roundedSecondsMin = 60

    var variant = AttachmentVariant.original
    var seconds = secondsDefault

    init(_ fields: inout Fields<JSONValue>) throws(Invalid) {
        let variant = fields.optional("variant", LinkVariant.self)
        let seconds = fields.optional("seconds") { json throws(Invalid) in
            guard let seconds = json.integer, (1...Int64(Self.secondsMax)).contains(seconds) else {
                throw Invalid("Must be a whole number from 1 to \(Self.secondsMax).")
            }
            return Int(seconds)
        }
        try fields.end()
        if variant == .thumbnail { self.variant = .thumbnail }
        if let seconds { self.seconds = seconds }
    }

    /// When the link ends. Rounded down to a quarter of its time, so that links made shortly after each other are equal
    /// and browsers find the file in their caches. A link lives at least three quarters of the time asked for.
    func endMs(nowMs: Int64) -> Int64 {
        let endMs = nowMs + Int64(seconds) * 1_000
        guard seconds >= Self.roundedSecondsMin else { return endMs }
        return endMs - endMs % (Int64(seconds) * 250)
    }
}

/// The variants that can be linked to.
private enum LinkVariant: String, WordField { case original, thumbnail }
