// The only thing in EXIF that stays: how to turn the picture before it is shown.

/// EXIF's orientation (tag 0x0112; CIPA DC-008). The value says where row 0 and column 0 of the stored pixels are shown.
enum Orientation: Int, Sendable {
    case topLeft = 1
    case topRight, bottomRight, bottomLeft, leftTop, rightTop, rightBottom, leftBottom

    /// Whether width and height are exchanged on display.
    var swapsSides: Bool { rawValue >= Orientation.leftTop.rawValue }

    /// Reads the orientation from the beginning of EXIF data (TIFF; both byte orders). Nil if there is none that a
    /// browser would apply. Reads the first directory only: at most the size of `tiff`.
    init?(tiff: ArraySlice<UInt8>) {
        let isLittle: Bool
        switch tiff.prefix(4) {
        case [0x49, 0x49, 42, 0]: isLittle = true
        case [0x4d, 0x4d, 0, 42]: isLittle = false
        default: return nil
        }
        func number(_ count: Int, at offset: Int) -> Int? {
            let bytes = tiff.dropFirst(offset).prefix(count)
            guard bytes.count == count else { return nil }
            return isLittle ? Int(littleEndian: bytes) : Int(bigEndian: bytes)
        }
        guard let directory = number(4, at: 4), let entryCount = number(2, at: directory) else { return nil }
        for entry in 0..<entryCount {
            let start = directory + 2 + entry * 12
            guard let tag = number(2, at: start) else { return nil }
            guard tag == 0x0112 else { continue }
            // One number of 16 bits. Browsers ignore every other form.
            guard number(2, at: start + 2) == 3, number(4, at: start + 4) == 1, let value = number(2, at: start + 8)
            else { return nil }
            self.init(rawValue: value)
            return
        }
        return nil
    }

    /// EXIF data with this orientation and nothing else: 26 bytes.
    var tiff: [UInt8] {
        [
            0x49, 0x49, 42, 0, 8, 0, 0, 0,  // little-endian; the directory is at 8
            1, 0,  // entries
            0x12, 0x01, 3, 0, 1, 0, 0, 0, UInt8(rawValue), 0, 0, 0,
            0, 0, 0, 0,  // no further directory
        ]
    }
}

extension Int {
    /// Reads at most 7 bytes, of which the last is the lowest.
    init(bigEndian bytes: some Sequence<UInt8>) { self = bytes.reduce(0) { $0 << 8 | Int($1) } }

    /// Reads at most 7 bytes, of which the first is the lowest.
    init(littleEndian bytes: some BidirectionalCollection<UInt8>) { self.init(bigEndian: bytes.reversed()) }
}
