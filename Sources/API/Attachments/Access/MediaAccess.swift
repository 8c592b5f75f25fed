// Who asks for an attachment's bytes: by token, by signed link, or by the media cookie.
import Basics
import Domain
import FoundationEssentials
import HTTPTypes
import Store
import Transport

/// The caller of a download.
struct MediaCaller: Sendable {
    let identity: Identity
    /// How the database checks that the caller may see the attachment.
    let reader: AttachmentReader
}

extension AttachmentCalls {
    /// The query parameter of a signed link.
    static let linkParameter = "link"
    static let mediaCookie = "parley_media"

    /// Returns the caller of a download. An Authorization header wins over a link, and a link over the cookie.
    /// - Throws: 401 without any of the three, or for a wrong token. 404 for a wrong link or cookie, like an attachment
    ///   that the caller cannot see. 422 for unknown parameters.
    func mediaCaller(_ call: Call, _ variant: AttachmentVariant) async throws -> MediaCaller {
        let link = try mediaQuery(call)
        if call.request.headers[.authorization] != nil {
            let identity = try await authenticator.identity(of: call.request)
            return MediaCaller(identity: identity, reader: .user(identity.user))
        }
        let identity: Identity?
        if let link {
            let target = LinkTarget(attachment: try call.attachment(), variant: variant)
            identity = try await signers.current().open(link: link, to: target, nowMs: WallClock.ms)
        } else if let cookie = call.request.headers.mediaCookie {
            identity = try await signers.current().open(cookie: cookie)
        } else {
            throw Problem.noToken
        }
        guard let identity else { throw Problem.attachmentNotFound }
        return MediaCaller(identity: identity, reader: .session(identity.session))
    }

    /// The text of the link. A query that is not a link's gets 404 without a token, so that an edited link looks like
    /// a wrong one.
    private func mediaQuery(_ call: Call) throws -> String? {
        var query = call.query
        let link = query.given(Self.linkParameter) { text throws(Invalid) in text }
        let headers = call.request.headers
        do {
            try query.end()
        } catch {
            if headers[.authorization] == nil, headers.mediaCookie == nil { throw Problem.attachmentNotFound }
            throw error
        }
        return link
    }

}

extension RequestHeaders {
    private static let cookieCountMax = 64

    /// The value of the media cookie.
    fileprivate var mediaCookie: String? {
        for line in self[values: .cookie] {
            for cookie in HeaderList(line[...].utf8, separator: ";", countMax: Self.cookieCountMax) {
                guard let (name, value) = cookie.pair, name.elementsEqual(AttachmentCalls.mediaCookie.utf8) else {
                    continue
                }
                return String(Substring(value))
            }
        }
        return nil
    }
}

extension Call {
    func attachment() throws(Problem) -> AttachmentID { try id("attachment_id", orElse: .attachmentNotFound) }
}
