// JPEG (ITU-T T.81): markers, segments with a length, and compressed data between them.

struct JPEGFormat: PictureFormat {
    private enum Part {
        case start
        /// The walk is before a marker's 0xFF.
        case marker
        case code
        case length(of: UInt8)
        /// The first bytes of a segment that decide whether it stays, and how many bytes follow them.
        case content(of: UInt8, rest: Int)
        /// A segment has been kept or dropped.
        case segmentEnd
        case scanHeaderEnd
        case end
    }

    private var part = Part.start
    private var size: (width: Int, height: Int)?
    private var orientation: Orientation?
    private var profile = SegmentedProfile()
    /// Whether the header of a scan is complete: pixels follow.
    private var hasPixels = false

    mutating func next(_ bytes: [UInt8], _ edits: inout Edits) throws(UnreadablePicture) -> Step {
        switch part {
        case .start:
            guard !bytes.isEmpty else { return .take(2) }
            guard bytes == [0xff, Code.startOfImage] else { throw UnreadablePicture("a JPEG begins with FF D8") }
            edits.keep(bytes)
            return afterSegment()
        case .marker:
            part = .code
            return .take(2)
        case .code:
            return try found(marker: bytes, &edits)
        case .length(let code):
            return try begin(code, bytes, &edits)
        case .content(let code, let rest):
            return try judge(code, bytes, rest: rest, &edits)
        case .segmentEnd:
            return afterSegment()
        case .scanHeaderEnd:
            hasPixels = true
            part = .marker
            return .toMarker(keeping: true)
        case .end:
            return .dropRest
        }
    }

    var header: PictureHeader? {
        guard let size, hasPixels else { return nil }
        return PictureHeader(
            storedWidth: size.width, storedHeight: size.height, orientation: orientation ?? .topLeft, frameCount: 1,
            hasAlpha: false)
    }

    /// Decoders skip stray bytes and fill bytes between segments. Metadata could hide there, so they go.
    private mutating func afterSegment() -> Step {
        part = .marker
        return .toMarker(keeping: false)
    }

    private mutating func found(marker bytes: [UInt8], _ edits: inout Edits) throws(UnreadablePicture) -> Step {
        let code = bytes[1]
        switch code {
        case Code.endOfImage:
            edits.keep(bytes)
            part = .end
            return .dropRest
        case Code.temporary:
            edits.drop(2)
            return afterSegment()
        case _ where Code.hasSegment(code):
            part = .length(of: code)
            return .take(2)
        default:
            throw UnreadablePicture("the JPEG has an unknown marker")
        }
    }

    private mutating func begin(_ code: UInt8, _ bytes: [UInt8], _ edits: inout Edits) throws(UnreadablePicture)
        -> Step
    {
        let length = Int(bigEndian: bytes) - 2
        guard length >= 0 else { throw UnreadablePicture("a JPEG segment has no length") }
        let shown =
            switch code {
            case _ where Code.isFrame(code): 5
            case Code.app0: JFIF.byteCount
            case Code.app1: length
            case Code.app2: SegmentedProfile.headByteCount
            case Code.app14: Adobe.byteCount
            default: 0
            }
        guard shown == 0 || length == 0 else {
            part = .content(of: code, rest: max(0, length - shown))
            return .take(min(length, shown))
        }
        switch code {
        case Code.apps, Code.comment:
            edits.drop(4)
            part = .segmentEnd
            return .drop(length)
        case _ where Code.isFrame(code):
            throw UnreadablePicture("a JPEG frame has no size")
        case Code.startOfScan:
            guard size != nil else { throw UnreadablePicture("a JPEG scan stands before its frame") }
            part = .scanHeaderEnd
        default:
            part = .segmentEnd
        }
        edits.keep([0xff, code] + bytes)
        return .keep(length)
    }

    /// `bytes` are the first ones of the segment; `rest` follow.
    private mutating func judge(_ code: UInt8, _ bytes: [UInt8], rest: Int, _ edits: inout Edits)
        throws(UnreadablePicture) -> Step
    {
        part = .segmentEnd
        let old = Self.segment(code, bytes, contentCount: bytes.count + rest)
        var new: [UInt8]?
        switch code {
        case _ where Code.isFrame(code):
            try read(frame: bytes)
            edits.keep(old)
            return .keep(rest)
        case Code.app2 where !hasPixels && profile.continues(with: bytes):
            edits.keep(old)
            return .keep(rest)
        case Code.app0 where bytes.starts(with: JFIF.name) && bytes.count == JFIF.byteCount:
            // The last two bytes are the size of a preview that follows.
            new = Self.segment(code, bytes.dropLast(2) + [0, 0], contentCount: JFIF.byteCount)
        case Code.app14 where bytes.starts(with: Adobe.name) && bytes.count == Adobe.byteCount:
            new = Self.segment(code, bytes, contentCount: Adobe.byteCount)
        case Code.app1 where bytes.starts(with: EXIF.name) && orientation == nil && !hasPixels:
            orientation = Orientation(tiff: bytes.dropFirst(EXIF.name.count))
            if let orientation, orientation != .topLeft {
                let content = EXIF.name + orientation.tiff
                new = Self.segment(code, content, contentCount: content.count)
            }
        default: break
        }
        if let new { edits.replace(old, with: new) } else { edits.drop(old.count) }
        return .drop(rest)
    }

    private mutating func read(frame bytes: [UInt8]) throws(UnreadablePicture) {
        guard size == nil else { throw UnreadablePicture("a JPEG has two frames") }
        guard bytes.count == 5 else { throw UnreadablePicture("a JPEG frame has no size") }
        let (height, width) = (Int(bigEndian: bytes[1...2]), Int(bigEndian: bytes[3...4]))
        // Height 0: stated after the first scan. No browser reads that.
        guard width > 0, height > 0 else { throw UnreadablePicture("a JPEG frame is empty") }
        size = (width, height)
    }

    /// Marker, length and the first bytes of a segment with this many bytes of content.
    private static func segment(_ code: UInt8, _ content: some Collection<UInt8>, contentCount: Int) -> [UInt8] {
        let length = UInt16(truncatingIfNeeded: contentCount + 2)
        return [0xff, code, UInt8(length >> 8), UInt8(truncatingIfNeeded: length)] + content
    }

    private enum JFIF {
        static let name = Array("JFIF\0".utf8)
        /// Name, version, unit, densities, and the preview's size.
        static let byteCount = 14
    }

    private enum Adobe {
        static let name = Array("Adobe".utf8)
        /// Name, version, flags, colour transform.
        static let byteCount = 12
    }

    private enum EXIF {
        static let name = Array("Exif\0\0".utf8)
    }

    /// The second byte of markers.
    private enum Code {
        static let startOfImage: UInt8 = 0xd8
        static let endOfImage: UInt8 = 0xd9
        static let startOfScan: UInt8 = 0xda
        static let app0: UInt8 = 0xe0
        static let app1: UInt8 = 0xe1
        static let app2: UInt8 = 0xe2
        static let app14: UInt8 = 0xee
        static let comment: UInt8 = 0xfe

        static let apps: ClosedRange<UInt8> = 0xe0...0xef
        /// No segment follows, and decoders skip it.
        static let temporary: UInt8 = 0x01

        /// Start of frame, in all its kinds. Among their codes are three of tables.
        static func isFrame(_ code: UInt8) -> Bool {
            0xc0...0xcf ~= code && code != huffmanTables && code != 0xc8 && code != arithmeticConditions
        }

        static let huffmanTables: UInt8 = 0xc4
        static let arithmeticConditions: UInt8 = 0xcc

        /// Markers with a segment that browsers read or skip: not those of hierarchical JPEG, JPEG-LS and JPEG 2000.
        static func hasSegment(_ code: UInt8) -> Bool {
            switch code {
            case huffmanTables, arithmeticConditions, startOfScan, quantization, lineCount, restartInterval, comment:
                true
            default: isFrame(code) || apps ~= code
            }
        }

        static let quantization: UInt8 = 0xdb
        static let lineCount: UInt8 = 0xdc
        static let restartInterval: UInt8 = 0xdd
    }
}
