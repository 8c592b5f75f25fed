// Which web pages of other origins may read the answers (Fetch Standard, 3.2 "CORS protocol"). Without a policy nothing of
// it is written, and browsers let no page of another origin read anything.

import HTTPTypes
import NIOCore

/// The origins that are let in, and what each answer says to them, rendered once. No credentials are allowed: what
/// speaks for a caller is a token that the page itself sends, never a cookie.
package struct CrossOriginPolicy: Sendable {
    /// What a page may read besides the handful that it always may.
    private static let exposed =
        "Retry-After, RateLimit, RateLimit-Policy, Location, Allow, WWW-Authenticate, Preference-Applied, X-Request-Id"

    /// A scheme, a host of 253 characters and a port fit.
    private static let originByteCountMax = 512

    private let origins: [String]
    /// By number: 0 for a request of no origin that is let in, then the origins in their order.
    private let lines: [ByteBuffer]

    /// - Parameter origins: as browsers write them (`https://chat.example`), or `*` alone for any.
    package init(origins: [String]) {
        func lines(_ origin: String) -> String {
            "Access-Control-Allow-Origin: \(origin)\r\nAccess-Control-Expose-Headers: \(Self.exposed)\r\n"
        }
        if origins == ["*"] {
            self.origins = []
            self.lines = [ByteBuffer(string: lines("*"))]
        } else {
            // Whoever keeps an answer must know that it is not the same for all.
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
