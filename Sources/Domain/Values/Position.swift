// Places in the log, in a thread and in a list, and the opaque texts that clients hold of them.
import Basics
import FoundationEssentials

/// A position in the log: 1, 2, 3 … in commit order. 0 is before the first event.
package struct Position: Hashable, Comparable, Sendable {
    package var value: Int64
    package init(_ value: Int64) { self.value = value }
    package static func < (left: Self, right: Self) -> Bool { left.value < right.value }
    package static let start = Position(0)
}

/// A message's number in its thread: 1, 2, 3 … without holes.
package struct Seq: Hashable, Comparable, Sendable {
    package var value: Int64
    package init(_ value: Int64) { self.value = value }
    package static func < (left: Self, right: Self) -> Bool { left.value < right.value }
}

/// A place in the log as clients hold it: the client has seen everything up to and including `position`. Opaque and
/// versioned, so that a later format (a position for each lane) can follow.
package struct Cursor: Hashable, Sendable, CustomStringConvertible {
    /// The unbroken stretch of the log that the position belongs to.
    package var epoch: Int32
    package var position: Position

    package init(epoch: Int32, position: Position) {
        self.epoch = epoch
        self.position = position
    }

    /// The length that clients are promised. A cursor of this version has 19 characters; a cursor with several lanes
    /// has more.
    package static let textByteCountMax = 2_048

    /// Returns nil for a text that `description` never returns.
    package init?(parsing text: some StringProtocol) {
        guard let fields = OpaqueText.decode(text, version: 1, byteCount: 12) else { return nil }
        let epoch = Int32(truncatingIfNeeded: fields.integer(at: 0, byteCount: 4))
        let position = fields.integer(at: 4, byteCount: 8)
        guard epoch > 0, position >= 0 else { return nil }
        self.init(epoch: epoch, position: Position(position))
    }

    package var description: String {
        var bytes: [UInt8] = []
        bytes.append(integer: Int64(epoch), byteCount: 4)
        bytes.append(integer: position.value, byteCount: 8)
        return OpaqueText.encode(bytes, version: 1)
    }
}

/// The end of a page of a list, which the client sends back as `page`: the last entry's rank in the list's order, and
/// its id.
package struct PageKey: Hashable, Sendable, CustomStringConvertible {
    package var rank: Int64
    package var id: UUID

    /// The range of ranks: milliseconds since 1970 up to the year 5138, counts, and small numbers. The database
    /// computes times from them, so it receives `boundedRank`: a text that a client invented may hold any number.
    private static let rankRange: ClosedRange<Int64> = -100_000_000_000_000...100_000_000_000_000
    package var boundedRank: Int64 { min(max(rank, Self.rankRange.lowerBound), Self.rankRange.upperBound) }

    package init(rank: Int64, id: UUID) {
        self.rank = rank
        self.id = id
    }

    /// Returns nil for a text that `description` never returns.
    package init?(parsing text: some StringProtocol) {
        guard let fields = OpaqueText.decode(text, version: 2, byteCount: 24) else { return nil }
        rank = fields.integer(at: 0, byteCount: 8)
        id = UUID(
            high: UInt64(bitPattern: fields.integer(at: 8, byteCount: 8)),
            low: UInt64(bitPattern: fields.integer(at: 16, byteCount: 8)))
    }

    package var description: String {
        var bytes: [UInt8] = []
        bytes.append(integer: rank, byteCount: 8)
        withUnsafeBytes(of: id.uuid) { bytes.append(contentsOf: $0) }
        return OpaqueText.encode(bytes, version: 2)
    }
}

/// Bytes as base64url without padding, with a version byte before and a check byte after them, so that a truncated or
/// edited text is refused and not misread.
private enum OpaqueText {
    static func encode(_ bytes: [UInt8], version: UInt8) -> String {
        var framed = [version] + bytes
        framed.append(check(framed))
        return Base64.urlSafe.encode(framed)
    }

    static func decode(_ text: some StringProtocol, version: UInt8, byteCount: Int) -> [UInt8]? {
        guard let framed = Base64.urlSafe.decode(text), framed.count == byteCount + 2, framed.first == version,
            framed.last == check(framed.dropLast())
        else { return nil }
        return Array(framed.dropFirst().dropLast())
    }

    private static func check(_ bytes: some Sequence<UInt8>) -> UInt8 {
        bytes.reduce(0x5a) { ($0 << 1 | $0 >> 7) ^ $1 }
    }
}

extension [UInt8] {
    fileprivate mutating func append(integer value: Int64, byteCount: Int) {
        for shift in (0..<byteCount).reversed() { append(UInt8(truncatingIfNeeded: value >> (shift * 8))) }
    }

    fileprivate func integer(at offset: Int, byteCount: Int) -> Int64 {
        self[offset..<(offset + byteCount)].reduce(0) { $0 << 8 | Int64($1) }
    }
}
