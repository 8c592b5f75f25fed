// The configured token of the operators.

/// Compared by digest, so that the time of a comparison shows neither the token's length nor how much of a guess is
/// right.
package struct AdminToken: Sendable, Equatable {
    private let digest: [UInt8]

    package init(_ text: String) { digest = SHA256.digest(Array(text.utf8)) }

    package func matches(_ guess: some StringProtocol) -> Bool {
        let other = SHA256.digest(Array(guess.utf8))
        return zip(digest, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension AdminToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "AdminToken(redacted)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
