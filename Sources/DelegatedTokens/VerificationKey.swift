// A key that verifies the host app's tokens: a JSON Web Key (RFC 7517) for one algorithm.
import Basics
import Cryptography
import Domain

/// A key and the only algorithm that it is used with, whatever a token's header says. Only the public part of a private
/// key is kept.
struct VerificationKey: Sendable {
    enum Algorithm: String, Sendable {
        case hs256 = "HS256"
        case rs256 = "RS256"
        case es256 = "ES256"
        case edDSA = "EdDSA"
    }

    /// Why a key of the file is skipped, as the rest of a sentence about it.
    struct Unusable: Error, Equatable {
        let reason: String
    }

    /// RFC 7518, 3.2: a key must be as long as the hash.
    private static let secretByteCountMin = 32

    /// What verifies the signatures of each algorithm.
    private enum Verifier: Sendable {
        case hs256(HMACSHA256)
        case rs256(RSA.PublicKey)
        case es256(P256.PublicKey)
        case edDSA(Ed25519.PublicKey)
    }

    let id: String?
    let algorithm: Algorithm
    private let verifier: Verifier

    init(_ json: JSONValue) throws(Unusable) {
        let algorithm = try Self.algorithm(of: json)
        if let named = json["alg"], named.string != algorithm.rawValue {
            throw Unusable(reason: "is for another algorithm than \(algorithm.rawValue)")
        }
        if let use = json["use"], use.string != "sig" { throw Unusable(reason: "is not for signatures") }
        if let operations = json["key_ops"]?.array, !operations.contains(.string("verify")) {
            throw Unusable(reason: "is not for verifying")
        }
        self.algorithm = algorithm
        id = json["kid"]?.string
        guard let verifier = try Self.verifier(algorithm, json) else { throw Unusable(reason: "cannot be read") }
        self.verifier = verifier
    }

    /// Chosen by the key's own type, so that a public key can never be used as a secret.
    private static func algorithm(of json: JSONValue) throws(Unusable) -> Algorithm {
        switch (json["kty"]?.string, json["crv"]?.string) {
        case ("oct", _): .hs256
        case ("RSA", _): .rs256
        case ("EC", "P-256"): .es256
        case ("OKP", "Ed25519"): .edDSA
        default: throw Unusable(reason: "has an unknown type or curve")
        }
    }

    /// Returns nil for numbers that are no key. Binary values are in base64url without padding (RFC 7518, 6).
    private static func verifier(_ algorithm: Algorithm, _ json: JSONValue) throws(Unusable) -> Verifier? {
        func part(_ name: String) throws(Unusable) -> [UInt8] {
            guard let text = json[name]?.string else { throw Unusable(reason: "lacks \(name)") }
            guard let bytes = Base64.urlSafe.decode(text) else { throw Unusable(reason: "cannot be read") }
            return bytes
        }
        switch algorithm {
        case .hs256:
            let secret = try part("k")
            guard secret.count >= secretByteCountMin else {
                throw Unusable(reason: "has fewer than \(secretByteCountMin) bytes")
            }
            return .hs256(HMACSHA256(key: secret))
        case .rs256:
            return RSA.PublicKey(modulus: try part("n"), exponent: try part("e")).map(Verifier.rs256)
        case .es256:
            let (x, y) = (try part("x"), try part("y"))
            // RFC 7518, 6.2.1.2: each coordinate has all its bytes.
            guard x.count == P256.scalarByteCount, y.count == P256.scalarByteCount else { return nil }
            return P256.PublicKey(point: [4] + x + y).map(Verifier.es256)
        case .edDSA:
            return Ed25519.PublicKey(bytes: try part("x")).map(Verifier.edDSA)
        }
    }

    /// Whether this key made the signature. Costs 1 µs with HS256, 30–150 µs with the others.
    func verifies(_ signature: [UInt8], of signed: [UInt8]) -> Bool {
        switch verifier {
        case .hs256(let key): key.isValid(signature, of: signed)
        case .rs256(let key): key.isValid(signature, of: signed)
        case .es256(let key): key.isValid(signature, of: signed)
        case .edDSA(let key): key.isValid(signature, of: signed)
        }
    }
}
