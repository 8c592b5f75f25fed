// PNG and animated PNG (W3C, PNG specification, third edition): a signature, then chunks of length, type, data and CRC.
//
// CRCs of chunks that stay are not checked. They stay byte for byte, so every decoder judges them as before, and a check
// would cost more than all other work on the file.
import Basics

struct PNGFormat: PictureFormat {
    private enum Part {
        case start
        case chunk
        case chunkHead
        case imageHeader
        case animation
        case metadata(rest: Int)
        case profile(head: [UInt8], rest: Int)
        case end
    }

    private static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    private static let lengthMax = Int(Int32.max)
    /// Enough for the name and the method.
    private static let profileShown = 128

    private var part = Part.start
    private var size: (width: Int, height: Int)?
    private var frameCount = 1
    private var hasAlpha = false
    private var orientation: Orientation?
    private var hasPixels = false
    private var hasProfile = false
    /// Whether there is an acTL chunk.
    private var isAnimated = false

    mutating func next(_ bytes: [UInt8], _ edits: inout Edits) throws(UnreadablePicture) -> Step {
        switch part {
        case .start:
            guard !bytes.isEmpty else { return .take(Self.signature.count) }
            guard bytes == Self.signature else { throw UnreadablePicture("a PNG has another signature") }
            edits.keep(bytes)
        case .chunk: break
        case .chunkHead: return try begin(chunk: bytes, &edits)
        case .imageHeader:
            try read(imageHeader: bytes)
            edits.keep(bytes)
        case .animation:
            frameCount = Int(bigEndian: bytes[0..<4])
            edits.keep(bytes)
        case .metadata(let rest):
            judge(metadata: bytes, rest: rest, &edits)
            part = .chunk
            return .drop(rest)
        case .profile(let head, let rest):
            part = .chunk
            return judge(profile: bytes, head: head, rest: rest, &edits)
        case .end: return .dropRest
        }
        part = .chunkHead
        return .take(8)
    }

    var header: PictureHeader? {
        guard let size, hasPixels else { return nil }
        return PictureHeader(
            storedWidth: size.width, storedHeight: size.height, orientation: orientation ?? .topLeft,
            frameCount: frameCount, hasAlpha: hasAlpha)
    }

    private mutating func begin(chunk head: [UInt8], _ edits: inout Edits) throws(UnreadablePicture) -> Step {
        let length = Int(bigEndian: head[0..<4])
        let type = ChunkType(head[4..<8])
        guard length <= Self.lengthMax else { throw UnreadablePicture("a PNG chunk is too long") }
        guard size != nil || type == .imageHeader else { throw UnreadablePicture("a PNG begins with IHDR") }
        // Length and type are kept; the CRC follows the data.
        let whole = length + 4
        part = .chunk
        if type == .metadata {
            let shown = min(whole, Step.takeMax)
            part = .metadata(rest: whole - shown)
            return .take(shown)
        }
        guard let lengths = type.keptLengths, lengths.contains(length) else {
            guard type.isAncillary else { throw UnreadablePicture("a PNG has an unknown critical chunk") }
            edits.drop(head.count)
            return .drop(whole)
        }
        if type == .profile {
            let shown = min(whole, Self.profileShown)
            part = .profile(head: head, rest: whole - shown)
            return .take(shown)
        }
        // Decoders read the first one only, before the pixels.
        if type == .animation, isAnimated || hasPixels {
            edits.drop(head.count)
            return .drop(whole)
        }
        edits.keep(head)
        switch type {
        case .imageHeader:
            guard size == nil else { throw UnreadablePicture("a PNG has two IHDR chunks") }
            part = .imageHeader
            return .take(whole)
        case .animation:
            isAnimated = true
            part = .animation
            return .take(whole)
        case .transparency: hasAlpha = true
        case .pixels: hasPixels = true
        case .end: part = .end
        default: break
        }
        return .keep(whole)
    }

    private mutating func read(imageHeader bytes: [UInt8]) throws(UnreadablePicture) {
        let (width, height) = (Int(bigEndian: bytes[0..<4]), Int(bigEndian: bytes[4..<8]))
        let (depth, colour) = (bytes[8], bytes[9])
        let depths: [UInt8] =
            switch colour {
            case 0: [1, 2, 4, 8, 16]
            case 3: [1, 2, 4, 8]
            case 2, 4, 6: [8, 16]
            default: []
            }
        guard 1...Self.lengthMax ~= width, 1...Self.lengthMax ~= height, depths.contains(depth), bytes[10] == 0,
            bytes[11] == 0, bytes[12] <= 1
        else { throw UnreadablePicture("a PNG's IHDR has values that do not exist") }
        size = (width, height)
        hasAlpha = colour & 4 != 0
    }

    /// `bytes` begin with the data of an iCCP chunk: a name, a zero, the method (0), compressed data. What is compressed
    /// stays unread: a node runs no decompressor on strangers' bytes.
    private mutating func judge(profile bytes: [UInt8], head: [UInt8], rest: Int, _ edits: inout Edits) -> Step {
        let afterName = bytes.drop { $0 != 0 }.dropFirst()
        let isProfile = !hasProfile && !hasPixels && afterName.first == 0
        hasProfile = true
        guard isProfile else {
            edits.drop(head.count + bytes.count)
            return .drop(rest)
        }
        edits.keep(head + bytes)
        return .keep(rest)
    }

    /// `bytes` begin with the data of an eXIf chunk, whose length and type have been taken already.
    private mutating func judge(metadata bytes: [UInt8], rest: Int, _ edits: inout Edits) {
        // An orientation that contradicts the first one is no orientation.
        guard orientation == nil else { return edits.drop(8 + bytes.count) }
        orientation = Orientation(tiff: bytes[...])
        guard let orientation, orientation != .topLeft else { return edits.drop(8 + bytes.count) }
        let data = ChunkType.metadata.bytes + orientation.tiff
        let new = [0, 0, 0, UInt8(orientation.tiff.count)] + data + CRC32.bytes(of: data)
        let old = UInt32(bytes.count + rest - 4).bigEndianBytes + ChunkType.metadata.bytes + bytes
        edits.replace(old, with: new)
    }
}
