// The web pages of other origins that may read the answers (Fetch Standard, 3.2 "CORS protocol"). Without a policy no
// CORS header is written, and browsers let no page of another origin read anything.

import HTTPTypes
import NIOCore

/// The allowed origins and the header lines for each of them, rendered once. Credentials are not allowed: a caller is
/// identified by a token that the page sends, never by a cookie.
package struct CrossOriginPolicy: Sendable {
    /// The headers that a page may read in addition to those that it always may.
    private static let exposed =
        "Retry-After, RateLimit, RateLimit-Policy, Location, Allow, WWW-Authenticate, Preference-Applied, X-Request-Id, "
        + "Idempotent-Replayed, ETag, Accept-Ranges, Content-Range, Content-Disposition, "
        + "Upload-Complete, Upload-Length, Upload-Limit, Upload-Offset"

    /// Long enough for a scheme, a host of 253 characters and a port.
    private static let originByteCountMax = 512

    private let origins: [String]
    /// By number: 0 for a request without an allowed origin, then the origins in order.
    private let lines: [ByteBuffer]

    /// - Parameter origins: as browsers write them (`https://chat.example`), or only `*` for any.
    package init(origins: [String]) {
        func lines(_ origin: String) -> String {
            "Access-Control-Allow-Origin: \(origin)\r\nAccess-Control-Expose-Headers: \(Self.exposed)\r\n"
        }
        if origins == ["*"] {
            self.origins = []
            self.lines = [ByteBuffer(string: lines("*"))]
        } else {
            // A cache must know that the answer depends on the origin.
            let vary = "Vary: Origin\r\n"
            self.origins = origins
            self.lines = [ByteBuffer(string: vary)] + origins.map { ByteBuffer(string: vary + lines($0)) }
        }
    }

    private var takesAny: Bool { origins.isEmpty }

    package func allows(_ origin: String) -> Bool { takesAny || number(of: origin) > 0 }

    func number(of origin: String?) -> Int {
        guard let origin, origin.utf8.count <= Self.originByteCountMax, let index = origins.firstIndex(of: origin)
        else { return 0 }
        return index + 1
    }

    /// The header lines with their CRLFs.
    func lines(number: Int) -> ByteBuffer { lines[number] }
}
