// Typed identifiers: a UUID with the kind of thing that it names. The only place that parses and prints UUIDs.
import Basics
import FoundationEssentials

/// A UUID of one kind of thing. Printed in lower case; parsed in either case.
package struct Identifier<Kind>: Hashable, Sendable, CustomStringConvertible {
    /// The length of the printed form.
    package static var textByteCount: Int { 36 }

    package let uuid: UUID

    package init(_ uuid: UUID) { self.uuid = uuid }

    /// Reads the 8-4-4-4-12 form in hexadecimal; nil for anything else.
    package init?(parsing text: some StringProtocol) {
        // The bytes are walked in this target, because a walk through a generic view calls it for each byte.
        let parsed = text.utf8.withContiguousStorageIfAvailable { UUID(hexadecimal: $0) }
        guard let uuid = parsed ?? UUID(hexadecimal: Array(text.utf8)) else { return nil }
        self.uuid = uuid
    }

    /// Reads the first 16 bytes of a digest as a UUID of version 8 (RFC 9562). The same digest is the same id.
    package init(digest: [UInt8]) {
        precondition(digest.count >= 16)
        let words = stride(from: 0, to: 16, by: 8).map { start in
            digest[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        uuid = UUID(
            high: words[0] & ~0xf000 | 0x8000, low: words[1] & (1 << 62 - 1) | 1 << 63)
    }

    /// The form that clients see.
    package var description: String {
        String(unsafeUninitializedCapacity: Self.textByteCount) { write(to: $0) }
    }

    /// Writes the same, and returns its length.
    func write(to buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var at = 0
        withUnsafeBytes(of: uuid.uuid) { bytes in
            for (index, byte) in bytes.enumerated() {
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    buffer[at] = UInt8(ascii: "-")
                    at += 1
                }
                buffer[at] = UInt8(hexadecimalDigitOf: byte >> 4)
                buffer[at + 1] = UInt8(hexadecimalDigitOf: byte & 15)
                at += 2
            }
        }
        return at
    }

    package static func < (left: Self, right: Self) -> Bool { left.uuid < right.uuid }
}

extension Identifier: Comparable {}

/// A kind of thing whose ids the server makes.
package protocol IdentifiedKind {
    /// The bits of `rand_a` (12 bits) that are random in a new id; the other bits are 0.
    static var randomABits: UInt64 { get }
}

extension IdentifiedKind {
    package static var randomABits: UInt64 { 0xfff }
}

extension Identifier where Kind: IdentifiedKind {
    /// Returns a new UUIDv7 (RFC 9562): 48 bits of milliseconds, then 74 random bits (66 in a thread's id). An id
    /// cannot be guessed, and ids made at nearly the same time are close together in an index.
    package static func make(atMs now: Int64 = WallClock.ms) -> Self {
        var random = SystemRandomNumberGenerator()
        let high = UInt64(now) << 16 | 0x7000 | random.next() & Kind.randomABits
        let low = random.next() & (1 << 62 - 1) | 1 << 63
        return Self(UUID(high: high, low: low))
    }
}

package enum UserKind: IdentifiedKind {}
package enum SessionKind: IdentifiedKind {}
package enum ThreadKindTag: IdentifiedKind {
    /// The low 8 bits of `rand_a` name the lane (the database) that holds the thread. There is one lane, 0.
    package static var randomABits: UInt64 { 0xf00 }
}
package enum MessageKind: IdentifiedKind {}
package enum MailKind: IdentifiedKind {}
package enum PushKind: IdentifiedKind {}
package enum WebhookKind: IdentifiedKind {}
package enum HookKind: IdentifiedKind {}
package enum CommandKind: IdentifiedKind {}
package enum ReportKind: IdentifiedKind {}
package enum HoldKind: IdentifiedKind {}
package enum OutboxFailureKind: IdentifiedKind {}
package enum ImportKind: IdentifiedKind {}
package enum AdminKeyKind: IdentifiedKind {}
package enum InvitationKind: IdentifiedKind {}
package typealias UserID = Identifier<UserKind>
package typealias SessionID = Identifier<SessionKind>
package typealias ThreadID = Identifier<ThreadKindTag>
package typealias MessageID = Identifier<MessageKind>
package typealias MailID = Identifier<MailKind>
package typealias PushID = Identifier<PushKind>
package typealias WebhookID = Identifier<WebhookKind>
package typealias HookID = Identifier<HookKind>
package typealias CommandID = Identifier<CommandKind>
package typealias ReportID = Identifier<ReportKind>
package typealias HoldID = Identifier<HoldKind>
package typealias OutboxFailureID = Identifier<OutboxFailureKind>
package typealias ImportID = Identifier<ImportKind>
package typealias AdminKeyID = Identifier<AdminKeyKind>
package typealias InvitationID = Identifier<InvitationKind>

extension UUID {
    init(high: UInt64, low: UInt64) {
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes) { raw in
            raw.storeBytes(of: high.bigEndian, as: UInt64.self)
            raw.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        self.init(uuid: bytes)
    }

    /// Nil unless the text is 36 bytes with hyphens in their four places and hexadecimal digits elsewhere.
    init?(hexadecimal text: some Sequence<UInt8>) {
        var words: (high: UInt64, low: UInt64) = (0, 0)
        var index = 0
        for byte in text {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
            } else {
                guard let digit = byte.hexadecimalDigit else { return nil }
                if index < 18 {
                    words.high = words.high << 4 | UInt64(digit)
                } else {
                    words.low = words.low << 4 | UInt64(digit)
                }
            }
            index += 1
            guard index <= 36 else { return nil }
        }
        guard index == 36 else { return nil }
        self.init(high: words.high, low: words.low)
    }
}
