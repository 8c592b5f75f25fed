// How Web Push identifies the sender (RFC 8292): a key pair that all nodes share and never change, and a token for each
// origin.
import Basics
import Cryptography
import Domain

/// The key pair that browsers bind their subscriptions to. If it is lost, all subscriptions end.
package struct VAPIDKeyPair: Sendable {
    let key: P256.PrivateKey

    /// The private half, as it is stored: 32 bytes.
    package var privateBytes: [UInt8] { key.scalar }

    /// The public half in the form of `applicationServerKey`: an uncompressed point (65 bytes) in base64url.
    package let publicText: String

    private init(_ key: P256.PrivateKey) {
        self.key = key
        publicText = Base64.urlSafe.encode(key.publicKey.point)
    }

    package static func make() -> VAPIDKeyPair { VAPIDKeyPair(P256.PrivateKey.make()) }

    /// Returns nil if the bytes are not a private key.
    package init?(privateBytes: [UInt8]) {
        guard let key = P256.PrivateKey(scalar: privateBytes) else { return nil }
        self.init(key)
    }
}

/// The receiver of a token: `https://host`, with the port unless it is the default one (RFC 6454, 6.2).
struct Origin: Hashable {
    let text: String

    /// Returns nil if the text is not an HTTP URL, or names a user.
    init?(url: String) {
        let schemes = [("https://", ":443"), ("http://", ":80")]
        guard let (scheme, port) = schemes.first(where: { url.lowercased().hasPrefix($0.0) }) else { return nil }
        var authority = url.dropFirst(scheme.count).prefix { !"/?#\\".contains($0) }.lowercased()
        guard !authority.isEmpty, !authority.contains("@") else { return nil }
        if authority.hasSuffix(port) { authority.removeLast(port.count) }
        text = scheme + authority
    }
}
