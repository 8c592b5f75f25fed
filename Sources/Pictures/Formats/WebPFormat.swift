// WebP (RFC 9649): a RIFF file of chunks, each padded to an even size. The simple form is one chunk of pixels; the
// extended form begins with VP8X, which says what follows.
import Basics

/// What a WebP file states before its pixels and can only be known after them.
struct WebPHead: Sendable, Equatable {
    /// The size that follows "RIFF", as found and without metadata.
    var riffByteCount: Int
    var cleanRIFFByteCount: Int
    /// The flags of VP8X, as found and without metadata; nil in the simple form.
    var flags: UInt8?
    var cleanFlags: UInt8?

    var isChanged: Bool { riffByteCount != cleanRIFFByteCount || flags != cleanFlags }
}

struct WebPFormat: PictureFormat {
    private enum Part {
        case start, riff
        case chunkNext, chunkHead
        case features
        case pixels(WebPChunk, rest: Int)
        case metadata(rest: Int)
        case profile(head: [UInt8], rest: Int)
        case frame(rest: Int, padding: Int)
        case frameChunkNext(rest: Int, padding: Int), frameChunkHead(rest: Int, padding: Int)
    }

    private let known: WebPHead?
    private var part = Part.start
    private var found = WebPHead(riffByteCount: 0, cleanRIFFByteCount: 0)
    /// Bytes of the RIFF file that no chunk has claimed yet.
    private var riffRest = 0
    private var size: (width: Int, height: Int)?
    private var frameCount = 0
    private var hasAlpha = false
    private var orientation: Orientation?
    private var hasProfile = false

    /// `known`: what the first pass found, to be written in the second.
    init(rewriting known: WebPHead?) { self.known = known }

    var head: WebPHead? { found }

    mutating func next(_ bytes: [UInt8], _ edits: inout Edits) throws(UnreadablePicture) -> Step {
        switch part {
        case .start:
            part = .riff
            return .take(12)
        case .riff:
            try read(riff: bytes, &edits)
            return nextChunk(&edits)
        case .chunkNext: return nextChunk(&edits)
        case .chunkHead: return try begin(chunk: bytes, &edits)
        case .features:
            read(features: bytes, &edits)
            return nextChunk(&edits)
        case .pixels(let chunk, let rest):
            try read(pixels: bytes, of: chunk)
            edits.keep(bytes)
            part = .chunkNext
            return .keep(rest)
        case .metadata(let rest):
            judge(metadata: bytes, rest: rest, &edits)
            part = .chunkNext
            return .drop(rest)
        case .profile(let head, let rest):
            part = .chunkNext
            return judge(profile: bytes, head: head, rest: rest, &edits)
        case .frame(let rest, let padding):
            frameCount += 1
            edits.keep(bytes)
            return nextFrameChunk(rest: rest, padding: padding)
        case .frameChunkNext(let rest, let padding): return nextFrameChunk(rest: rest, padding: padding)
        case .frameChunkHead(let rest, let padding):
            return try begin(frameChunk: bytes, rest: rest, padding: padding, &edits)
        }
    }

    var header: PictureHeader? {
        guard let size, frameCount > 0 else { return nil }
        return PictureHeader(
            storedWidth: size.width, storedHeight: size.height, orientation: orientation ?? .topLeft,
            frameCount: frameCount, hasAlpha: hasAlpha)
    }

    private mutating func read(riff bytes: [UInt8], _ edits: inout Edits) throws(UnreadablePicture) {
        guard bytes[0..<4].elementsEqual("RIFF".utf8), bytes[8..<12].elementsEqual("WEBP".utf8) else {
            throw UnreadablePicture("a WebP begins with RIFF and WEBP")
        }
        let byteCount = Int(littleEndian: bytes[4..<8])
        guard byteCount >= 12 else { throw UnreadablePicture("a WebP has no size") }
        found.riffByteCount = byteCount
        found.cleanRIFFByteCount = byteCount
        riffRest = byteCount - 4
        let size = UInt32(truncatingIfNeeded: known?.cleanRIFFByteCount ?? byteCount)
        edits.keep(bytes[0..<4] + size.littleEndianBytes + bytes[8..<12])
    }

    /// `bytes` begin an ICCP chunk, whose head has been taken already.
    private mutating func judge(profile bytes: [UInt8], head: [UInt8], rest: Int, _ edits: inout Edits) -> Step {
        guard ColourProfile.isBegun(by: bytes) else {
            found.cleanFlags = found.cleanFlags.map { $0 & ~Flag.profile }
            found.cleanRIFFByteCount -= 8 + bytes.count + rest
            edits.drop(8 + bytes.count)
            return .drop(rest)
        }
        edits.keep(head + bytes)
        return .keep(rest)
    }

    private mutating func nextChunk(_ edits: inout Edits) -> Step {
        part = .chunkHead
        guard riffRest < 8 else { return .take(8) }
        // Decoders read nothing after the size that the file states.
        dropRestWithoutChunk()
        return .dropRest
    }

    /// Fewer than eight bytes hold no chunk. They are not counted either if the file ends in the chunk before them.
    private mutating func dropRestWithoutChunk() {
        guard riffRest < 8 else { return }
        found.cleanRIFFByteCount -= riffRest
        riffRest = 0
    }

    private mutating func begin(chunk head: [UInt8], _ edits: inout Edits) throws(UnreadablePicture) -> Step {
        let type = WebPChunk(head)
        let byteCount = Int(littleEndian: head[4..<8])
        riffRest -= 8
        // Some programs leave out the last padding.
        let whole = min(byteCount + byteCount % 2, riffRest)
        riffRest -= whole
        dropRestWithoutChunk()
        part = .chunkNext
        guard let type, stays(type, whole) else {
            if type == .metadata, whole > 0 {
                let shown = min(whole, Step.takeMax)
                part = .metadata(rest: whole - shown)
                return .take(shown)
            }
            if type == .profile, !hasProfile { found.cleanFlags = found.cleanFlags.map { $0 & ~Flag.profile } }
            found.cleanRIFFByteCount -= 8 + whole
            edits.drop(8)
            return .drop(whole)
        }
        if type == .profile {
            hasProfile = true
            let shown = min(whole, ColourProfile.headByteCount)
            part = .profile(head: head, rest: whole - shown)
            return .take(shown)
        }
        guard whole >= byteCount, byteCount >= type.byteCountMin else {
            throw UnreadablePicture("a WebP chunk has a wrong size")
        }
        edits.keep(head)
        let rest = whole - type.byteCountMin
        switch type {
        case .features where byteCount == type.byteCountMin: part = .features
        case .features: throw UnreadablePicture("a WebP chunk has a wrong size")
        case .lossy, .lossless: part = .pixels(type, rest: rest)
        case .frame: part = .frame(rest: byteCount - type.byteCountMin, padding: whole - byteCount)
        case .alpha:
            hasAlpha = true
            return .keep(whole)
        case .animation, .profile, .metadata: return .keep(whole)
        }
        return .take(type.byteCountMin)
    }

    /// Whether browsers read the chunk at this place. All others go.
    private func stays(_ type: WebPChunk, _ byteCount: Int) -> Bool {
        let isAnimated = (found.flags ?? 0) & Flag.animation != 0
        return switch type {
        case .features: found.flags == nil && size == nil
        case .lossy, .lossless: !isAnimated && frameCount == 0
        case .alpha: found.flags != nil && !isAnimated && frameCount == 0
        case .animation, .frame: isAnimated
        case .profile:
            found.flags != nil && !hasProfile && frameCount == 0
                && (1...ColourProfile.byteCountMax).contains(byteCount)
        case .metadata: false
        }
    }

    private mutating func read(features bytes: [UInt8], _ edits: inout Edits) {
        let flags = bytes[0]
        found.flags = flags
        found.cleanFlags = flags & ~(Flag.exif | Flag.xmp)
        hasAlpha = flags & Flag.alpha != 0
        size = (Int(littleEndian: bytes[4..<7]) + 1, Int(littleEndian: bytes[7..<10]) + 1)
        edits.keep([known?.cleanFlags ?? flags] + bytes.dropFirst())
    }

    private mutating func read(pixels bytes: [UInt8], of chunk: WebPChunk) throws(UnreadablePicture) {
        let sides: (width: Int, height: Int)
        if chunk == .lossy {
            guard bytes[3..<6] == [0x9d, 0x01, 0x2a] else { throw UnreadablePicture("a WebP has no key frame") }
            sides = (Int(littleEndian: bytes[6..<8]) & 0x3fff, Int(littleEndian: bytes[8..<10]) & 0x3fff)
        } else {
            guard bytes[0] == 0x2f else { throw UnreadablePicture("a lossless WebP has another signature") }
            let bits = Int(littleEndian: bytes[1..<5])
            sides = (bits & 0x3fff + 1, bits >> 14 & 0x3fff + 1)
            if size == nil { hasAlpha = bits >> 28 & 1 != 0 }
        }
        guard sides.width > 0, sides.height > 0 else { throw UnreadablePicture("a WebP is empty") }
        size = size ?? sides
        frameCount += 1
    }

    /// `bytes` begin an EXIF chunk, whose head has been taken already.
    private mutating func judge(metadata bytes: [UInt8], rest: Int, _ edits: inout Edits) {
        let byteCount = bytes.count + rest
        found.cleanRIFFByteCount -= 8 + byteCount
        // Decoders read EXIF only where VP8X announces it.
        if orientation == nil, (found.flags ?? 0) & Flag.exif != 0 {
            // Some programs begin as in JPEG.
            let name = Array("Exif\0\0".utf8)
            orientation = Orientation(tiff: bytes.dropFirst(bytes.starts(with: name) ? name.count : 0))
            if let tiff = orientation?.tiff, orientation != .topLeft {
                let id = Array("EXIF".utf8)
                found.cleanRIFFByteCount += 8 + tiff.count
                found.cleanFlags = found.cleanFlags.map { $0 | Flag.exif }
                let old = id + UInt32(truncatingIfNeeded: byteCount).littleEndianBytes + bytes
                return edits.replace(old, with: id + UInt32(tiff.count).littleEndianBytes + tiff)
            }
        }
        edits.drop(8 + bytes.count)
    }
}

// Frames of animations have chunks of their own.
extension WebPFormat {
    private mutating func nextFrameChunk(rest: Int, padding: Int) -> Step {
        guard rest < 8 else {
            part = .frameChunkHead(rest: rest, padding: padding)
            return .take(8)
        }
        part = .chunkNext
        return .blank(rest + padding)
    }

    /// The size of the frame comes before it, so a chunk that does not belong there is overwritten instead of removed.
    private mutating func begin(frameChunk head: [UInt8], rest: Int, padding: Int, _ edits: inout Edits)
        throws(UnreadablePicture) -> Step
    {
        let byteCount = Int(littleEndian: head[4..<8])
        let whole = min(byteCount + byteCount % 2, rest - 8)
        part = .frameChunkNext(rest: rest - 8 - whole, padding: padding)
        switch WebPChunk(head) {
        case .lossy, .lossless, .alpha:
            guard whole >= byteCount else { throw UnreadablePicture("a WebP chunk has a wrong size") }
            edits.keep(head)
            return .keep(whole)
        default:
            edits.replace(head, with: Array("JUNK".utf8) + head[4..<8])
            return .blank(whole)
        }
    }
}

/// The chunks that mean something here.
private enum WebPChunk: String {
    case features = "VP8X"
    case lossy = "VP8 "
    case lossless = "VP8L"
    case alpha = "ALPH"
    case animation = "ANIM"
    case frame = "ANMF"
    case profile = "ICCP"
    case metadata = "EXIF"

    /// `head`: type and size.
    init?(_ head: [UInt8]) { self.init(rawValue: String(decoding: head[0..<4], as: UTF8.self)) }

    /// What is read of it; it must not be smaller.
    var byteCountMin: Int {
        switch self {
        case .features, .lossy: 10
        case .lossless: 5
        case .frame: 16
        case .alpha, .animation, .profile, .metadata: 0
        }
    }
}

/// Bits of VP8X.
private enum Flag {
    static let animation: UInt8 = 0x02
    static let profile: UInt8 = 0x20
    static let xmp: UInt8 = 0x04
    static let exif: UInt8 = 0x08
    static let alpha: UInt8 = 0x10
}
