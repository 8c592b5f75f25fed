// How Web Push knows who sends (RFC 8292): a key pair that all nodes have for good, a token for each service's origin.
import Basics
import Crypto
import Domain

/// The key pair that browsers bind their subscriptions to: losing it ends them all.
package struct VAPIDKeyPair: Sendable {
    let key: P256.Signing.PrivateKey

    /// The private half, as it is kept: 32 bytes.
    package var privateBytes: [UInt8] { Array(key.rawRepresentation) }

    /// The public half as `applicationServerKey` wants it: an uncompressed point (65 bytes) in base64url.
    package let publicText: String

    private init(_ key: P256.Signing.PrivateKey) {
        self.key = key
        publicText = Base64.urlSafe.encode(Array(key.publicKey.x963Representation))
    }

    package static func make() -> VAPIDKeyPair { VAPIDKeyPair(P256.Signing.PrivateKey()) }

    /// Nil for what is no private key.
    package init?(privateBytes: [UInt8]) {
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: privateBytes) else { return nil }
        self.init(key)
    }
}

/// `https://host`, with the port if it isn't the usual one (RFC 6454, 6.2): whom a token is for.
struct Origin: Hashable {
    let text: String

    /// Nil for what isn't a URL of the web, or names a user.
    init?(url: String) {
        let schemes = [("https://", ":443"), ("http://", ":80")]
        guard let (scheme, port) = schemes.first(where: { url.lowercased().hasPrefix($0.0) }) else { return nil }
        var authority = url.dropFirst(scheme.count).prefix { !"/?#\\".contains($0) }.lowercased()
        guard !authority.isEmpty, !authority.contains("@") else { return nil }
        if authority.hasSuffix(port) { authority.removeLast(port.count) }
        text = scheme + authority
    }
}
