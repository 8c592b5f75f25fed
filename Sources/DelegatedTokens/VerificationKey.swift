// A key that verifies the host app's tokens: a JSON Web Key (RFC 7517) for one algorithm.
import Basics
import Domain
import Foundation
import JWTKit

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

    let id: String?
    let algorithm: Algorithm
    private let verifier: any JWTAlgorithm

    init(_ json: JSONValue) async throws(Unusable) {
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
        do {
            verifier = try await Self.verifier(algorithm, json)
        } catch let error as Unusable {
            throw error
        } catch {
            throw Unusable(reason: "cannot be read")
        }
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

    /// A collection of one key, to avoid the library's choice of keys: it falls back to a default for an unknown `kid`,
    /// and binds a key without `alg` to the algorithm of the first token that names it.
    private static func verifier(_ algorithm: Algorithm, _ json: JSONValue) async throws -> any JWTAlgorithm {
        func part(_ name: String) throws(Unusable) -> String {
            guard let text = json[name]?.string else { throw Unusable(reason: "lacks \(name)") }
            return text
        }
        let keys = JWTKeyCollection()
        switch algorithm {
        case .hs256:
            guard let secret = Base64.urlSafe.decode(try part("k")) else { throw Unusable(reason: "cannot be read") }
            guard secret.count >= secretByteCountMin else {
                throw Unusable(reason: "has fewer than \(secretByteCountMin) bytes")
            }
            await keys.add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
        case .rs256:
            let key = try Insecure.RSA.PublicKey(modulus: try part("n"), exponent: try part("e"))
            await keys.add(rsa: key, digestAlgorithm: .sha256)
        case .es256:
            await keys.add(ecdsa: try ES256PublicKey(parameters: (try part("x"), try part("y"))))
        case .edDSA:
            await keys.add(eddsa: try EdDSA.PublicKey(x: try part("x"), curve: .ed25519))
        }
        return try await keys.getKey()
    }

    /// Whether this key made the signature. Costs 1 µs with HS256, 20–100 µs with the others.
    func verifies(_ signature: [UInt8], of signed: some DataProtocol) -> Bool {
        // The library throws for a text that does not have the form of a signature.
        (try? verifier.verify(signature, signs: signed)) ?? false
    }
}
