// GIF (87a and 89a): a screen, then images and extensions. Their data are chains of blocks of at most 255 bytes, each
// after its size; size 0 ends a chain.

struct GIFFormat: PictureFormat {
    private enum Part {
        case start, screen
        case introducerNext, introducer
        case imageDescriptor
        case extensionLabel
        case graphicControlSize, graphicControl
        case applicationSize, application
        case sizeNext(Chain)
        case size(Chain)
        case loopBlock([UInt8])
        case end
    }

    /// What becomes of the blocks of a chain.
    private enum Chain {
        case keeping, dropping
        /// Blocks go; the end of the chain stays.
        case ending
        /// The loop extension stays if it has a block with the number of repetitions. The bytes begin the extension.
        case looping([UInt8])
    }

    private var part = Part.start
    private var size = (width: 0, height: 0)
    private var frameCount = 0
    private var hasAlpha = false

    mutating func next(_ bytes: [UInt8], _ edits: inout Edits) throws(UnreadablePicture) -> Step {
        switch part {
        case .start:
            part = .screen
            return .take(13)
        case .screen:
            guard bytes.starts(with: "GIF".utf8) else { throw UnreadablePicture("a GIF begins with GIF") }
            size = (Int(littleEndian: bytes[6...7]), Int(littleEndian: bytes[8...9]))
            return keep(bytes, thenTableOf: bytes[10], and: 0, then: .introducerNext, &edits)
        case .introducerNext:
            part = .introducer
            return .take(1)
        case .introducer: return try begin(block: bytes, &edits)
        case .imageDescriptor:
            try read(imageDescriptor: bytes)
            // One more byte: the size of the first codes.
            return keep([Code.image] + bytes, thenTableOf: bytes[8], and: 1, then: .sizeNext(.keeping), &edits)
        case .extensionLabel: return begin(extension: bytes[0], &edits)
        case .graphicControlSize: return readFixed(bytes[0], 4, .graphicControl, label: Code.graphicControl, &edits)
        case .graphicControl:
            if bytes[0] & 1 != 0 { hasAlpha = true }
            edits.keep([Code.extension, Code.graphicControl, 4] + bytes)
            return next(in: .ending)
        case .applicationSize: return readFixed(bytes[0], 11, .application, label: Code.application, &edits)
        case .application: return judge(application: bytes, &edits)
        case .sizeNext(let chain): return next(in: chain)
        case .size(let chain): return begin(blockOf: bytes[0], chain, &edits)
        case .loopBlock(let head):
            guard bytes[0] == 1 else {
                edits.drop(4)
                return next(in: .looping(head))
            }
            edits.keep(head + [3] + bytes)
            return next(in: .ending)
        case .end: return .dropRest
        }
    }

    var header: PictureHeader? {
        guard frameCount > 0 else { return nil }
        return PictureHeader(
            storedWidth: size.width, storedHeight: size.height, orientation: .topLeft, frameCount: frameCount,
            hasAlpha: hasAlpha)
    }

    private mutating func begin(block bytes: [UInt8], _ edits: inout Edits) throws(UnreadablePicture) -> Step {
        switch bytes[0] {
        case Code.image:
            part = .imageDescriptor
            return .take(9)
        case Code.extension:
            part = .extensionLabel
            return .take(1)
        case Code.trailer:
            edits.keep(bytes)
            part = .end
            return .dropRest
        case 0:
            // Some programs end a chain twice.
            edits.drop(1)
            return .take(1)
        default: throw UnreadablePicture("a GIF has an unknown block")
        }
    }

    private mutating func read(imageDescriptor bytes: [UInt8]) throws(UnreadablePicture) {
        let numbers = stride(from: 0, to: 8, by: 2).map { Int(littleEndian: bytes[$0...($0 + 1)]) }
        if frameCount == 0 {
            // The first image may be larger than the screen: browsers then enlarge the screen.
            size = (max(size.width, numbers[0] + numbers[2]), max(size.height, numbers[1] + numbers[3]))
            guard size.width > 0, size.height > 0 else { throw UnreadablePicture("a GIF is empty") }
        }
        frameCount += 1
    }

    private mutating func begin(extension label: UInt8, _ edits: inout Edits) -> Step {
        switch label {
        case Code.graphicControl: part = .graphicControlSize
        case Code.application: part = .applicationSize
        default:
            edits.drop(2)
            return next(in: .dropping)
        }
        return .take(1)
    }

    /// Shows the first block of an extension if it has the right size. Otherwise the extension goes.
    private mutating func readFixed(
        _ size: UInt8, _ rightSize: UInt8, _ next: Part, label: UInt8, _ edits: inout Edits
    ) -> Step {
        guard size == rightSize else {
            edits.drop(3)
            part = size == 0 ? .introducerNext : .sizeNext(.dropping)
            return .drop(Int(size))
        }
        part = next
        return .take(Int(size))
    }

    private mutating func judge(application name: [UInt8], _ edits: inout Edits) -> Step {
        let head = [Code.extension, Code.application, 11] + name
        switch String(decoding: name, as: UTF8.self) {
        case "NETSCAPE2.0", "ANIMEXTS1.0": return next(in: .looping(head))
        default:
            // Colour profiles, which no browser reads in a GIF, go as well. XMP is no chain of blocks, but ends in bytes that lead every reader of blocks to its end.
            edits.drop(head.count)
            return next(in: .dropping)
        }
    }

    private mutating func next(in chain: Chain) -> Step {
        part = .size(chain)
        return .take(1)
    }

    private mutating func begin(blockOf size: UInt8, _ chain: Chain, _ edits: inout Edits) -> Step {
        part = size == 0 ? .introducerNext : .sizeNext(chain)
        switch chain {
        case .keeping:
            edits.keep([size])
            return .keep(Int(size))
        case .ending where size == 0:
            edits.keep([0])
            return .keep(0)
        case .looping(let head):
            if size == 3 {
                part = .loopBlock(head)
                return .take(3)
            }
            edits.drop(size == 0 ? head.count + 1 : 1)
        case .dropping, .ending: edits.drop(1)
        }
        return .drop(Int(size))
    }

    /// Keeps the bytes, the colour table that their flags announce, and some bytes more.
    private mutating func keep(
        _ bytes: [UInt8], thenTableOf flags: UInt8, and count: Int, then next: Part, _ edits: inout Edits
    ) -> Step {
        edits.keep(bytes)
        part = next
        return .keep((flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1)) + count)
    }

    private enum Code {
        static let image: UInt8 = 0x2c
        static let `extension`: UInt8 = 0x21
        static let trailer: UInt8 = 0x3b
        static let graphicControl: UInt8 = 0xf9
        static let application: UInt8 = 0xff
    }
}
