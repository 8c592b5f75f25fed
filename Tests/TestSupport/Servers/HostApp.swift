// The part of a host app's server that Parley sees: keys, and tokens signed with them.

import Basics
import Cryptography
import Domain
import Foundation

/// Signs any claims, valid or not.
package struct HostApp: Sendable {
    package enum Algorithm: String, CaseIterable, Sendable {
        case hs256 = "HS256"
        case rs256 = "RS256"
        case es256 = "ES256"
        case edDSA = "EdDSA"
    }

    package let algorithm: Algorithm
    /// The key for a verifier: the secret itself with HS256, otherwise the public key. Without `kid` and `alg`.
    package let jwk: [(name: String, value: String)]
    private let sign: @Sendable ([UInt8]) throws -> [UInt8]

    package init(_ algorithm: Algorithm = .hs256) throws {
        self.algorithm = algorithm
        let encode = Base64.urlSafe.encode
        switch algorithm {
        case .hs256:
            let secret = RandomBytes.make(count: 32)
            jwk = [("kty", "oct"), ("k", encode(secret))]
            sign = { HMACSHA256(key: secret).code(of: $0) }
        case .rs256:
            guard let key = RSA.PrivateKey(pem: Self.rsaTestKey) else { throw NoKey() }
            jwk = [("kty", "RSA"), ("n", encode(key.publicKey.modulus)), ("e", encode(key.publicKey.exponent))]
            sign = { try key.signature(of: $0) }
        case .es256:
            let key = P256.PrivateKey.make()
            let coordinates = key.publicKey.point.dropFirst()
            jwk = [
                ("kty", "EC"), ("crv", "P-256"), ("x", encode(Array(coordinates.prefix(32)))),
                ("y", encode(Array(coordinates.suffix(32)))),
            ]
            sign = { try key.signature(of: $0) }
        case .edDSA:
            let key = Ed25519.PrivateKey.make()
            jwk = [("kty", "OKP"), ("crv", "Ed25519"), ("x", encode(key.publicKey.bytes))]
            sign = { try key.signature(of: $0) }
        }
    }

    private struct NoKey: Error {}

    /// Returns the key as JSON, with further members.
    package func key(_ more: [(name: String, value: String)] = []) -> String {
        let members = (jwk + more).map { JSONValue.Member($0.name, .string($0.value)) }
        return String(decoding: JSONText(.object(members)).utf8, as: UTF8.self)
    }

    package static func keySet(_ keys: String...) -> String { #"{"keys":[\#(keys.joined(separator: ","))]}"# }

    /// Returns a token with these claims (JSON), valid for an hour unless the claims contain `exp`.
    package func token(_ claims: String, header: String? = nil) throws -> String {
        let head = header ?? #"{"alg":"\#(algorithm.rawValue)","typ":"JWT"}"#
        let signed = [head, claims].map { Base64.urlSafe.encode(Array($0.utf8)) }.joined(separator: ".")
        return try "\(signed).\(Base64.urlSafe.encode(sign(Array(signed.utf8))))"
    }

    /// Returns a token about `subject` that is valid for `seconds`; `more` are further members, such as
    /// `,"name":"Ann"`.
    package func token(of subject: String, for seconds: Int = 3600, _ more: String = "") throws -> String {
        let now = Int(Date().timeIntervalSince1970)
        return try token(#"{"sub":"\#(subject)","iat":\#(now),"exp":\#(now + seconds)\#(more)}"#)
    }

    /// A key for these tests only. It is fixed because generating one takes most of a second.
    package static let rsaTestKey = """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDHMxXpdpLklvI1
        ey637SNo/y9gvjwbayq1bGSvy80NGPOMg1HvWWn3gdDEAMtwemIC4yTXEJiyobLc
        wXuo3a8xIrQMbLFxj5XgHi5TsnKhM2X3AAHE7I7F7nz9kgHPhCQ/YvIi1muxBMAo
        mT3ruoA1gUh+Splt08hCHma7cmJxlI7iwFHfkTiREidhygk6Z8VckNk9lzknTSCG
        iv4BZC/gc4Yce2/TqE0voGFV9GPRcfKYA7aDICrCqFMot6VSOiPyoFbsJDy9ytUx
        AG/X44DOtM1dOOKstqKgzuz2fwuNSsMaY6arso7hDbXYM1piwQn8IIiO7U0DhAwe
        NQJ/9wPDAgMBAAECggEAQ2PlgFekh2AHrg8v9Xps9dsLELwbAp2lU75Ja+3TP6CW
        2I0evY4u2tSYp46rRLCqktZ8gqOzPQ+WPrfYWX8yAzn91ow5FbWhWzJqstcWj7Gf
        R8pBTvlGrfCqaXCpWyaVyrnzN9T5lugICFQbjjHIqRFFULB1KqIwyCmX0Md4RXsH
        FwwiOSauHv64W+8I7vTxxsyR1Q8LC1xOwHO6zTxPmvFL6sESMKFtwVyOPzO37U4T
        ayHyUAA6VFfzcT2XFcocFpHw+Jy+oePtHTPnd7uWLSuI+ZTjiaHxeBbHe7oTpBSH
        /2bxlklD1KOUP+0uwRvgZSL7VJ65st8g4wshl6OpiQKBgQDyJi7Rt1N4jVB+bNth
        qptMfswqTe0ifMsq7c0JLzmKl0BllBrsQGx1duJ2b1xE4gb+0LwSodJmzj+/GVsW
        eHH1qlWy3HPget+YOD5xIvDfETe+mH3lo60jj75ICmV82FuOroGO+tIlZBrh+TpY
        T1DHz5q7WlxUkzv/s+L7OV7aOwKBgQDSl/ynR1qeWuMZlAB3YP2/0NmF4y2v2kbR
        UKQZ4pn9LfxwfCBf5nzE5dIuIF3nEt10ctfJFUML7xIjmKcyFrQ8Ylnx8NoUkBCw
        UAHyv7405UBwChXODY1L/DcXvrLpcSZHrPzrrekxFFhrZMu0Mru/nn+Gyel2vL5P
        Hdq/SuvcGQKBgGCQl4UsXY4qlJoGISp+lbXYruSD9PgW2hKBiI2MFp9NF/IqMN5c
        BqSFR2RBnoMdu/psFUQ84iH7R/KWUvvQBmoYhlpwjYlMltQmQchuTa43OIq6VyJ3
        tjkDPreN5dD2mvR4ZNQ29AzTMeFBuWG0J5u3D5Z9P2q+2GNtQiw7Qbc3AoGAMS/U
        kBGHZdMeldvOnBNoUQPrumzMP/WAcuUd3vnhM5QpEPC88wk3fRmclK90n0L1vHwS
        UGIJ7eCh4PSHoJhS8oOaNHsnxIO9kiCtw8/rEhm1ijWg0Ca0KNo41+/vg7yszzLl
        Q/qzq4Xv/O1m8qii12eiq42/XL9Kx9nWPLW4DwkCgYEA7iF5+YsnxKRzdRDZHMqo
        EAoBrWdrz6v/bZWoh/AzvftysMsTAiHth1Ug2Pvx3uJfi0rvu6N8cEFqXLW2kXBG
        wGL+n85ZSz15lo03L8w7DhEP0LIQzYxyqZ8wzLt35fHcAa6+c/dro+M3NkjmWpo5
        a9lzHrdAWiqSXxKAskiwVn0=
        -----END PRIVATE KEY-----
        """
}
