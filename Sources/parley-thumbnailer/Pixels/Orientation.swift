// How a camera was held, and how the picture must be turned for display.

/// The orientation of EXIF: where row 0 and column 0 of the stored picture are when it is displayed.
enum Orientation: UInt16, CaseIterable {
    case upright = 1
    case mirrored = 2
    case upsideDown = 3
    case upsideDownMirrored = 4
    case transposed = 5
    case turnedRight = 6
    case transverse = 7
    case turnedLeft = 8

    private var swapsSides: Bool { rawValue >= 5 }

    /// Returns the picture as it is displayed.
    func apply(to bitmap: Bitmap) -> Bitmap {
        guard self != .upright else { return bitmap }
        let (width, height) = (bitmap.size.width, bitmap.size.height)
        let size = swapsSides ? PixelSize(width: height, height: width) : bitmap.size
        var result = Bitmap(size: size, channelCount: bitmap.channelCount)
        var to = 0
        for y in 0..<size.height {
            for x in 0..<size.width {
                let (column, row) =
                    switch self {
                    case .upright: (x, y)
                    case .mirrored: (width - 1 - x, y)
                    case .upsideDown: (width - 1 - x, height - 1 - y)
                    case .upsideDownMirrored: (x, height - 1 - y)
                    case .transposed: (y, x)
                    case .turnedRight: (y, height - 1 - x)
                    case .transverse: (width - 1 - y, height - 1 - x)
                    case .turnedLeft: (width - 1 - y, x)
                    }
                let from = (row * width + column) * bitmap.channelCount
                for channel in 0..<bitmap.channelCount { result.bytes[to + channel] = bitmap.bytes[from + channel] }
                to += bitmap.channelCount
            }
        }
        return result
    }
}

extension Orientation {
    /// The orientation in an EXIF block (a TIFF file with or without "Exif" before it); upright if it has none or is
    /// damaged.
    init(exif: ArraySlice<UInt8>) {
        self = Self.find(in: exif) ?? .upright
    }

    private static func find(in exif: ArraySlice<UInt8>) -> Orientation? {
        let prefix = Array("Exif\0\0".utf8)
        let tiff = ByteReader(exif.starts(with: prefix) ? exif.dropFirst(prefix.count) : exif)
        let isBigEndian: Bool
        switch tiff.integer(at: 0, byteCount: 4) {
        case 0x4949_2a00: isBigEndian = false
        case 0x4d4d_002a: isBigEndian = true
        default: return nil
        }
        guard let directory = tiff.integer(at: 4, byteCount: 4, isBigEndian: isBigEndian),
            let entryCount = tiff.integer(at: directory, byteCount: 2, isBigEndian: isBigEndian)
        else { return nil }
        for index in 0..<entryCount {
            let entry = directory + 2 + 12 * index
            guard let tag = tiff.integer(at: entry, byteCount: 2, isBigEndian: isBigEndian) else { return nil }
            guard tag == 0x0112 else { continue }
            guard let value = tiff.integer(at: entry + 8, byteCount: 2, isBigEndian: isBigEndian) else { return nil }
            return Orientation(rawValue: UInt16(value))
        }
        return nil
    }
}
