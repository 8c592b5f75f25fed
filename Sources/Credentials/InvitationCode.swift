// The code of an invitation to register: 160 random bits. The database knows the invitation by digest only.

import Basics
import Cryptography

/// `parleyinvite_` and 32 characters of base64url: 20 random bytes and their CRC-32. A scanner of leaked secrets, and
/// `init(parsing:)` before any query, can distinguish a code from similar text.
package struct InvitationCode: Sendable, Equatable {
    package static let prefix = "parleyinvite_"

    private static let secretByteCount = 20
    private let secret: [UInt8]

    private init(secret: [UInt8]) {
        self.secret = secret
    }

    package static func random() -> InvitationCode {
        InvitationCode(secret: RandomBytes.make(count: secretByteCount))
    }

    /// Nil unless the text has the form of a code. The database knows whether it is valid.
    package init?(parsing text: some StringProtocol) {
        guard text.hasPrefix(Self.prefix),
            let bytes = Base64.urlSafe.decode(Substring(text.dropFirst(Self.prefix.count))),
            bytes.count == Self.secretByteCount + 4,
            bytes[Self.secretByteCount...].elementsEqual(CRC32.bytes(of: bytes[..<Self.secretByteCount]))
        else { return nil }
        secret = Array(bytes[..<Self.secretByteCount])
    }

    /// The text that the administrator passes on, shown once.
    package var text: String { Self.prefix + Base64.urlSafe.encode(secret + CRC32.bytes(of: secret[...])) }

    /// SHA-256 of the random bytes. A fast hash is safe here, because 160 random bits cannot be guessed.
    package var digest: [UInt8] { SHA256.digest(secret) }
}

// Only `text` shows the code.
extension InvitationCode: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "InvitationCode(redacted)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
