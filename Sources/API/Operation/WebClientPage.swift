// The web client over HTTP: paths, caching, compression, and the headers that confine the page.
import Cryptography
import HTTPTypes
import NIOCore
import Transport
import WebClient

/// Answers requests for the files of the web client. They need no token, and no rate limit counts them.
struct WebClientPage: Sendable {
    /// The page may run its own modules, load its own files and the pictures that it makes itself, and connect to its
    /// node. Text never becomes markup or script, because the page has no Trusted Types policy for it.
    static let contentSecurityPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
        + "media-src 'self' blob:; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; "
        + "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    /// The page asks for the place only when its user sends it, and for nothing else.
    static let permissionsPolicy = "camera=(), geolocation=(self), microphone=(), payment=(), usb=()"

    /// A file as it is sent: plain or compressed. Each form has a tag of its own, because a tag stands for exact bytes.
    private struct Form: Sendable {
        let headers: HTTPFields
        let tag: EntityTag
        let body: ByteBuffer

        init(_ file: WebFile, _ bytes: [UInt8], encoding: String? = nil) {
            tag = EntityTag(digest: SHA256.digest(bytes))
            body = ByteBuffer(bytes: bytes)
            var headers: HTTPFields = [
                .contentType: file.mediaType,
                .cacheControl: file.isOfVersion ? "public, max-age=31536000, immutable" : "no-cache",
                .eTag: tag.text,
                .contentSecurityPolicy: WebClientPage.contentSecurityPolicy,
                .permissionsPolicy: WebClientPage.permissionsPolicy,
                .crossOriginOpenerPolicy: "same-origin",
                .crossOriginResourcePolicy: "same-origin",
            ]
            headers[.contentEncoding] = encoding
            if file.gzipped != nil { headers[.vary] = "Accept-Encoding" }
            self.headers = headers
        }
    }

    private struct Entry: Sendable {
        let plain: Form
        let gzipped: Form?

        init(_ file: WebFile) {
            plain = Form(file, file.bytes)
            gzipped = file.gzipped.map { Form(file, $0, encoding: "gzip") }
        }

        func answer(_ headers: RequestHeaders, status: HTTPResponse.Status = .ok) -> Answer {
            let takesGzip = headers[.acceptEncoding].map { AcceptHeader.names("gzip", in: $0) } ?? false
            let form = takesGzip ? gzipped ?? plain : plain
            if status == .ok, let known = headers[.ifNoneMatch], form.tag.isNamed(in: known) {
                return Answer(status: .notModified, headers: form.headers)
            }
            return Answer(status: status, headers: form.headers, body: form.body)
        }
    }

    private let entries: [String: Entry]
    private let notFound: Entry?

    init(_ page: WebPage) {
        entries = page.files.mapValues(Entry.init)
        notFound = page.notFound.map(Entry.init)
    }

    /// Returns nil for a path that is not the web client's.
    func answer(_ request: InboundRequest) -> OutboundResponse? {
        let path = request.path
        // Nearly all requests are calls of the API.
        guard !path.utf8.starts(with: "/v1/".utf8), let entry = entries[String(path)] else { return nil }
        let answer =
            switch request.method {
            case .get, .head: entry.answer(request.headers)
            default: Answer.methodNotAllowed(request.method, [.get, .head])
            }
        return outbound(answer)
    }

    /// Returns the page for a person who opens an address that nothing has; nil for programs, which get a problem
    /// document.
    func nothing(_ request: InboundRequest) -> OutboundResponse? {
        guard let notFound, request.method == .get, !request.path.utf8.starts(with: "/v1/".utf8),
            request.headers[.accept].map({ AcceptHeader.names("text/html", in: $0) }) ?? false
        else { return nil }
        return outbound(notFound.answer(request.headers, status: .notFound))
    }

    private func outbound(_ answer: Answer) -> OutboundResponse {
        var response = answer.outbound
        response.operation = OperationID.getWebClient.rawValue
        return response
    }
}

extension HTTPField.Name {
    static let crossOriginOpenerPolicy = Self("Cross-Origin-Opener-Policy")!
    static let permissionsPolicy = Self("Permissions-Policy")!
}
