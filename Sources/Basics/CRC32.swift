// CRC-32 as in zip and PNG (ISO 3309): polynomial 0xEDB88320, reflected. Finds mistakes of typing; protects nothing.

// It is inlinable: each request checks its token, and an unspecialised walk through 32 bytes took 5 % of a send's and 7 %
// of a poll's processor time (perf).

package enum CRC32 {
    @usableFromInline package static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xedb8_8320 }
    }

    @inlinable
    package static func value(of bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~0) { $0 >> 8 ^ table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] }
    }

    /// The four bytes of the value, the highest first.
    @inlinable
    package static func bytes(of bytes: some Sequence<UInt8>) -> [UInt8] { value(of: bytes).bigEndianBytes }
}

extension UInt32 {
    @inlinable
    package var bigEndianBytes: [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: self >> $0) } }
}
