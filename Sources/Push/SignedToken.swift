// JSON Web Tokens for the three push services (RFC 7515, RFC 7519): composed here, signed by swift-crypto.
import Basics
import Crypto
import CryptoExtras
import Domain

enum SignedToken {
    /// `header.claims.signature`, each in base64url. ES256 (RFC 7518, 3.4); 20 µs.
    /// - Throws: what libcrypto reports, for example that the system returns no random bytes.
    static func es256(
        _ key: P256.Signing.PrivateKey, header: [JSONValue.Member] = [], claims: [JSONValue.Member]
    ) throws -> String {
        let text = signedPart("ES256", header, claims)
        let signature = try key.signature(for: Array(text.utf8)).rawRepresentation
        return "\(text).\(Base64.urlSafe.encode(Array(signature)))"
    }

    /// RS256 (RFC 7518, 3.3); about a millisecond.
    static func rs256(
        _ key: _RSA.Signing.PrivateKey, header: [JSONValue.Member] = [], claims: [JSONValue.Member]
    ) throws -> String {
        let text = signedPart("RS256", header, claims)
        let signature = try key.signature(for: Array(text.utf8), padding: .insecurePKCS1v1_5).rawRepresentation
        return "\(text).\(Base64.urlSafe.encode(Array(signature)))"
    }

    private static func signedPart(
        _ algorithm: String, _ header: [JSONValue.Member], _ claims: [JSONValue.Member]
    ) -> String {
        let head = [JSONValue.Member("alg", .string(algorithm)), .init("typ", .string("JWT"))] + header
        return [head, claims].map { Base64.urlSafe.encode(JSONText(.object($0)).utf8) }.joined(separator: ".")
    }
}
