// The configured token of the operators.
import Cryptography

/// Compared by digest, so that the time of a comparison shows neither the token's length nor how much of a guess is
/// right.
package struct AdminToken: Sendable, Equatable, RedactedSecret {
    private let digest: [UInt8]

    package init(_ text: String) { digest = SHA256.digest(Array(text.utf8)) }

    package func matches(_ guess: some StringProtocol) -> Bool {
        ConstantTime.areEqual(digest, SHA256.digest(Array(guess.utf8)))
    }
}
