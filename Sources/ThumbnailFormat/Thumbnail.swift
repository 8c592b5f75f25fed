// A thumbnail, and how parley-thumbnailer writes it to its standard output. No I/O, no decoder.

/// A small picture and its thumbhash.
///
/// As bytes, with integers in big-endian order:
///
/// | bytes | content |
/// | --- | --- |
/// | 4 | "PTHN" |
/// | 1 | version of this format: 1 |
/// | 1 | type: 1 JPEG, 2 WebP |
/// | 2, 2 | width and height in pixels |
/// | 1 | length of the thumbhash |
/// | 4 | length of the picture |
/// | | the thumbhash, then the picture, then nothing |
package struct Thumbnail: Sendable, Equatable {
    package enum Format: UInt8, Sendable {
        case jpeg = 1
        case webP = 2

        package var mediaType: String {
            switch self {
            case .jpeg: "image/jpeg"
            case .webP: "image/webp"
            }
        }
    }

    package var format: Format
    package var width: Int
    package var height: Int
    /// The hash has at most 25 bytes (https://evanw.github.io/thumbhash/).
    package var thumbhash: [UInt8]
    /// A complete JPEG or WebP file.
    package var bytes: [UInt8]

    package init(format: Format, width: Int, height: Int, thumbhash: [UInt8], bytes: [UInt8]) {
        self.format = format
        self.width = width
        self.height = height
        self.thumbhash = thumbhash
        self.bytes = bytes
    }

    package static let sideMax = 640
    package static let thumbhashByteCountMax = 25
    /// The longest encoded thumbnail that the reader accepts. Noise of 640 × 640 pixels takes about 400 KiB.
    package static let encodedByteCountMax = 1 << 20

    private static let magic = Array("PTHN".utf8)
    private static let version: UInt8 = 1
    private static let headerByteCount = 15

    package var encoded: [UInt8] {
        var result = Self.magic + [Self.version, format.rawValue]
        result.reserveCapacity(Self.headerByteCount + thumbhash.count + bytes.count)
        result.append(bigEndian: width, byteCount: 2)
        result.append(bigEndian: height, byteCount: 2)
        result.append(bigEndian: thumbhash.count, byteCount: 1)
        result.append(bigEndian: bytes.count, byteCount: 4)
        return result + thumbhash + bytes
    }

    /// Returns nil unless `encoded` is exactly one thumbnail within its limits. The bytes of the picture are not
    /// checked.
    package init?(encoded: [UInt8]) {
        guard encoded.count > Self.headerByteCount, encoded.count <= Self.encodedByteCountMax,
            encoded.starts(with: Self.magic), encoded[4] == Self.version, let format = Format(rawValue: encoded[5])
        else { return nil }
        let width = encoded.bigEndian(at: 6, byteCount: 2)
        let height = encoded.bigEndian(at: 8, byteCount: 2)
        let hashCount = encoded.bigEndian(at: 10, byteCount: 1)
        let byteCount = encoded.bigEndian(at: 11, byteCount: 4)
        guard (1...Self.sideMax).contains(width), (1...Self.sideMax).contains(height),
            (1...Self.thumbhashByteCountMax).contains(hashCount), byteCount > 0,
            encoded.count == Self.headerByteCount + hashCount + byteCount
        else { return nil }
        self.init(
            format: format, width: width, height: height,
            thumbhash: Array(encoded[Self.headerByteCount...].prefix(hashCount)), bytes: encoded.suffix(byteCount))
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian value: Int, byteCount: Int) {
        for index in (0..<byteCount).reversed() { append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
    }

    fileprivate func bigEndian(at offset: Int, byteCount: Int) -> Int {
        self[offset..<offset + byteCount].reduce(0) { $0 << 8 | Int($1) }
    }
}
