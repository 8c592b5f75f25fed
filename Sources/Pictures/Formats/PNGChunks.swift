// The chunks of PNG that stay, and the CRC of the one that the cleaner writes itself.
import Basics

/// The four letters of a chunk.
struct ChunkType: Equatable {
    let bytes: [UInt8]

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = Array(bytes) }

    private init(_ name: StaticString) {
        bytes = name.withUTF8Buffer { Array($0) }
    }

    static let imageHeader = ChunkType("IHDR")
    static let pixels = ChunkType("IDAT")
    static let transparency = ChunkType("tRNS")
    static let animation = ChunkType("acTL")
    static let metadata = ChunkType("eXIf")
    static let profile = ChunkType("iCCP")
    static let end = ChunkType("IEND")

    /// A small first letter: decoders that do not know the chunk skip it.
    var isAncillary: Bool { bytes[0] & 0x20 != 0 }

    /// The lengths with which a chunk stays: pixels, and what changes how they look. Nil for all others.
    var keptLengths: ClosedRange<Int>? { Self.kept[bytes] }

    private static let anyLength = 0...Int(Int32.max)
    private static let kept: [[UInt8]: ClosedRange<Int>] = {
        let ranges: KeyValuePairs<StaticString, ClosedRange<Int>> = [
            "IHDR": 13...13, "PLTE": 3...768, "IDAT": anyLength, "IEND": 0...0,
            // Transparent colours, background, and bits that matter.
            "tRNS": 0...256, "bKGD": 1...6, "sBIT": 1...4,
            // Colour space and density.
            "gAMA": 4...4, "cHRM": 32...32, "sRGB": 1...1, "iCCP": 0...ColourProfile.byteCountMax, "cICP": 4...4,
            "mDCV": 24...24,
            "cLLI": 8...8, "pHYs": 9...9,
            // Animation.
            "acTL": 8...8, "fcTL": 26...26, "fdAT": 4...Int(Int32.max),
        ]
        return Dictionary(uniqueKeysWithValues: ranges.map { (ChunkType($0).bytes, $1) })
    }()
}

extension UInt32 {
    var littleEndianBytes: [UInt8] { bigEndianBytes.reversed() }
}
