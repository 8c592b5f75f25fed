// Invitations to register.

/// An invitation that an administrator makes.
package struct NewInvitation: Sendable {
    package static let useCountMax = 1_000_000

    /// How many people may register with it.
    package var useCount: Int
    /// Nil: it does not expire.
    package var expiresAt: Timestamp?

    package init(useCount: Int64, expiresAt: Timestamp?, nowMicros: Int64) throws(Invalid) {
        guard (1...Int64(Self.useCountMax)).contains(useCount) else {
            throw Invalid(fields: [.init("uses", "Must be a whole number from 1 to \(Self.useCountMax).")])
        }
        if let expiresAt, expiresAt.microsSince1970 <= nowMicros {
            throw Invalid(fields: [.init("expires_at", "Must be in the future.")])
        }
        (self.useCount, self.expiresAt) = (Int(useCount), expiresAt)
    }
}
