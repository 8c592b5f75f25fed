// A token that the host app's server signed (RFC 7519): verifies its text and returns the user that it names, or the
// reason for refusal.
import Basics
import Domain
import FoundationEssentials

/// The user that a token names. A value of this type means that the token's signature and times are valid.
package struct DelegatedToken: Sendable, Equatable {
    /// The claims that a token must have; nil means that any value is accepted.
    package struct Expectations: Sendable, Equatable {
        package var issuer: String?
        package var audience: String?

        package init(issuer: String? = nil, audience: String? = nil) {
            self.issuer = issuer
            self.audience = audience
        }
    }

    /// Why a token is refused. For the log only: clients learn only that the token is invalid.
    package enum Refusal: String, Error, Sendable {
        case malformed
        case algorithm
        case criticalHeader = "critical_header"
        case signature
        case expired
        case notYetValid = "not_yet_valid"
        case issuer
        case audience
        case subject
    }

    /// The largest accepted difference between the clocks of two servers.
    static let skewS = 60.0

    package let subject: ExternalID
    /// The account's name; nil if the token has none, or none that is valid.
    package let name: DisplayName?
    /// It is nil if the token has none, or none that is the address of an image.
    package let picture: ImageURL?

    /// - Parameters:
    ///   - text: `header.claims.signature`, each in base64url.
    ///   - now: seconds since 1970.
    package init(_ text: String, keys: KeySet, expecting: Expectations, now: Double) throws(Refusal) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let signature = Base64.urlSafe.decode(parts[2]) else { throw .malformed }
        try Self.checkSignature(
            signature, of: text.utf8.dropLast(parts[2].utf8.count + 1), try Self.json(parts[0]), keys)
        // The claims are not read before the signature is verified.
        let claims = try Self.json(parts[1])
        try Self.checkTimes(claims, now)
        try Self.check(claims, expecting)
        guard let subject = claims["sub"]?.string, let id = try? ExternalID(text: subject) else { throw .subject }
        self.subject = id
        name = claims["name"]?.string.flatMap(DisplayName.init(claimed:))
        picture = claims["picture"]?.string.flatMap { try? ImageURL(text: $0) }
    }

    /// Strict: no padding and no repeated keys, so that no other reader can understand the token differently.
    private static func json(_ part: Substring) throws(Refusal) -> JSONValue {
        guard let bytes = Base64.urlSafe.decode(part), let value = try? JSONReader.read(bytes), value.object != nil
        else { throw .malformed }
        return value
    }

    private static func checkSignature(
        _ signature: [UInt8], of signed: Substring.UTF8View, _ header: JSONValue, _ keys: KeySet
    ) throws(Refusal) {
        // RFC 7515, 4.1.11: `crit` names extensions that must be understood, and none is supported.
        guard header["crit"] == nil else { throw .criticalHeader }
        guard let algorithm = header["alg"]?.string.flatMap(VerificationKey.Algorithm.init) else { throw .algorithm }
        if let id = header["kid"], id.string == nil { throw .malformed }
        let bytes = Array(signed)
        let candidates = keys.candidates(algorithm: algorithm, id: header["kid"]?.string)
        guard candidates.contains(where: { $0.verifies(signature, of: bytes) }) else { throw .signature }
    }

    private static func checkTimes(_ claims: JSONValue, _ now: Double) throws(Refusal) {
        func time(_ name: String) throws(Refusal) -> Double? {
            guard let claim = claims[name] else { return nil }
            guard let time = claim.double, time.isFinite else { throw .malformed }
            return time
        }
        guard let expires = try time("exp"), now < expires + skewS else { throw .expired }
        if let from = try time("nbf"), now < from - skewS { throw .notYetValid }
        if let issued = try time("iat"), now < issued - skewS { throw .notYetValid }
    }

    private static func check(_ claims: JSONValue, _ expecting: Expectations) throws(Refusal) {
        if let issuer = expecting.issuer, claims["iss"]?.string != issuer { throw .issuer }
        if let audience = expecting.audience {
            let named = claims["aud"].map { $0.array ?? [$0] } ?? []
            guard named.contains(.string(audience)) else { throw .audience }
        }
    }
}

extension DisplayName {
    /// A name from another system: invalid characters become spaces, and a long name is truncated.
    fileprivate init?(claimed text: String) {
        let line = String(text.unicodeScalars.prefix(4 * Self.characterCountMax))
        let normal = line.showable.trimmed.normalized.unicodeScalars.prefix(Self.characterCountMax)
        try? self.init(text: String(String.UnicodeScalarView(normal)))
    }
}
