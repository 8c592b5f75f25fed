// ICC profiles (ICC.1, section 7.2). They stay, because they change colours. Anything could hide in one, so what does not
// begin like a profile goes.

enum ColourProfile {
    /// Profiles of cameras, screens and printers are smaller.
    static let byteCountMax = 512 * 1024 - 1
    /// What `isBegun` looks at.
    static let headByteCount = 40

    /// Whether these are the first bytes of a profile: its size, and the signature of every profile.
    static func isBegun(by bytes: some Collection<UInt8>) -> Bool {
        let head = Array(bytes.prefix(headByteCount))
        return head.count == headByteCount && (128...byteCountMax).contains(Int(bigEndian: head[0..<4]))
            && head[36...].elementsEqual("acsp".utf8)
    }
}

/// A profile in a JPEG: segments of at most 64 KiB, each with its number, from 1, and how many there are.
struct SegmentedProfile: Sendable {
    static let name = Array("ICC_PROFILE\0".utf8)
    /// Name, number, count, and the first bytes of the profile.
    static let headByteCount = name.count + 2 + ColourProfile.headByteCount
    private static let segmentCountMax: UInt8 = 8

    private var count: UInt8 = 0
    private var number: UInt8 = 0

    /// Whether the segment that begins with these bytes stays: the first one begins a profile, and each follows the one
    /// before.
    mutating func continues(with bytes: [UInt8]) -> Bool {
        guard bytes.starts(with: Self.name), bytes.count >= Self.name.count + 2 else { return false }
        let rest = bytes.dropFirst(Self.name.count)
        let (next, all) = (rest[rest.startIndex], rest[rest.startIndex + 1])
        guard next == number + 1, next <= all, all <= Self.segmentCountMax, number == 0 || all == count,
            number > 0 || ColourProfile.isBegun(by: rest.dropFirst(2))
        else { return false }
        (number, count) = (next, all)
        return true
    }
}
