// Secrets that the service shows once and that programs present later: keys, addresses of hooks, invitations. The
// database knows each by its digest only.

import Basics
import Cryptography

/// A secret whose description shows nothing of it.
package protocol RedactedSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension RedactedSecret {
    package var description: String { "\(Self.self)(redacted)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// What a token is for.
package protocol TokenKind: Sendable {
    /// The characters before the base64url, by which people and scanners recognise the kind.
    static var prefix: String { get }
    /// Random bytes. 20 bytes (160 bits) cannot be guessed.
    static var secretByteCount: Int { get }
}

/// The prefix of its kind, and base64url of random bytes and their CRC-32. A scanner of leaked secrets, and
/// `init(parsing:)` before any query, can distinguish a token from similar text. `SessionToken` has this form, too, with
/// code of its own: each request reads one, and a generic type costs that path a tenth of its time.
package struct SecretToken<Kind: TokenKind>: Sendable, Equatable, RedactedSecret {
    private static var checksumByteCount: Int { 4 }
    private let secret: [UInt8]

    private init(secret: [UInt8]) {
        self.secret = secret
    }

    package static func random() -> Self { Self(secret: RandomBytes.make(count: Kind.secretByteCount)) }

    /// Nil unless the text has the form of a token. The database knows whether it is valid.
    package init?(parsing text: some StringProtocol) {
        guard text.hasPrefix(Kind.prefix),
            let bytes = Base64.urlSafe.decode(Substring(text.dropFirst(Kind.prefix.count))),
            bytes.count == Kind.secretByteCount + Self.checksumByteCount,
            bytes[Kind.secretByteCount...].elementsEqual(CRC32.bytes(of: bytes[..<Kind.secretByteCount]))
        else { return nil }
        secret = Array(bytes[..<Kind.secretByteCount])
    }

    /// The whole text, which the service shows once.
    package var text: String { Kind.prefix + Base64.urlSafe.encode(secret + CRC32.bytes(of: secret[...])) }

    /// SHA-256 of the random bytes, 32 bytes. A fast hash is safe here, because the secret cannot be guessed.
    package var digest: [UInt8] { SHA256.digest(secret) }
}

package enum AdminKeyTokenKind: TokenKind {
    package static let prefix = "parley_key_"
    package static let secretByteCount = 32
}
/// The bearer token of an admin key.
package typealias AdminKeyToken = SecretToken<AdminKeyTokenKind>

package enum AdminTokenKind: TokenKind {
    package static let prefix = "parley_admin_"
    package static let secretByteCount = 32
}
/// An admin token as `parley init` makes it. The service accepts any text that the operator chooses.
package typealias NewAdminToken = SecretToken<AdminTokenKind>

package enum HookTokenKind: TokenKind {
    package static let prefix = "parleyhook_"
    package static let secretByteCount = 32
}
/// The token in the address of an incoming hook.
package typealias HookToken = SecretToken<HookTokenKind>

package enum InvitationCodeKind: TokenKind {
    package static let prefix = "parleyinvite_"
    package static let secretByteCount = 20
}
/// The code of an invitation to register, which an administrator passes on.
package typealias InvitationCode = SecretToken<InvitationCodeKind>
