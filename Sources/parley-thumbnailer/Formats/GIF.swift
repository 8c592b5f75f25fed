// GIF by hand: docs/decisions/by-hand.md has the reason. Only the first frame is read.
import ThumbnailFormat

enum GIF {
    static let magics = [Array("GIF87a".utf8), Array("GIF89a".utf8)]

    /// Draws the first frame on the screen, which is transparent where the frame does not reach. Pixels that the file
    /// lacks at its end are transparent.
    static func decode(_ file: [UInt8]) throws(ThumbnailerStatus) -> DecodedPicture {
        let frame = try GIFFrame(firstOf: ByteReader(file[...]))
        let target = frame.screen.fitted(sideMax: Thumbnail.sideMax)
        var scaler = AreaScaler(from: frame.screen, to: target, channelCount: 4)
        let indices = frame.decodeIndices()
        guard !indices.isEmpty else { throw .unreadable }
        var row = [UInt8](repeating: 0, count: frame.screen.width * 4)
        for y in 0..<frame.screen.height {
            frame.draw(row: y, indices: indices, into: &row)
            row.withUnsafeBufferPointer { scaler.add($0) }
        }
        return DecodedPicture(bitmap: scaler.result)
    }
}

/// The first frame of a file.
private struct GIFFrame {
    let screen: PixelSize
    private var left = 0
    private var top = 0
    private var size = PixelSize(width: 0, height: 0)
    private var isInterlaced = false
    /// Red, green, blue and alpha of 256 colours. Indices beyond the table are black.
    private var colours: [UInt8] = []
    private var codeSize = 0
    /// The compressed indices, without the lengths of blocks.
    private var data: [UInt8] = []

    init(firstOf file: ByteReader) throws(ThumbnailerStatus) {
        guard let width = file.integer(at: 6, byteCount: 2, isBigEndian: false),
            let height = file.integer(at: 8, byteCount: 2, isBigEndian: false),
            let flags = file.integer(at: 10, byteCount: 1)
        else { throw .unreadable }
        screen = PixelSize(width: width, height: height)
        try screen.checkLimits()
        var offset = 13
        let globalTable = try Self.colourTable(file, flags: flags, offset: &offset)
        var transparentIndex: Int?
        while let introducer = file.integer(at: offset, byteCount: 1) {
            offset += 1
            switch introducer {
            // An extension: a label, then blocks. 0xf9 is the one that names the transparent colour.
            case 0x21:
                if file.integer(at: offset, byteCount: 2) == 0xf904,
                    let flags = file.integer(at: offset + 2, byteCount: 1), flags & 1 != 0
                {
                    transparentIndex = file.integer(at: offset + 5, byteCount: 1)
                }
                offset += 1
                _ = Self.blocks(file, offset: &offset)
            case 0x2c:
                try readFrame(file, at: offset, globalTable: globalTable)
                if let transparentIndex { colours[transparentIndex * 4 + 3] = 0 }
                return
            default: throw .unreadable
            }
        }
        throw .unreadable
    }

    private mutating func readFrame(
        _ file: ByteReader, at start: Int, globalTable: [UInt8]?
    ) throws(ThumbnailerStatus) {
        func field(_ index: Int) -> Int? { file.integer(at: start + 2 * index, byteCount: 2, isBigEndian: false) }
        guard let left = field(0), let top = field(1), let width = field(2), let height = field(3),
            let flags = file.integer(at: start + 8, byteCount: 1)
        else { throw .unreadable }
        self.left = left
        self.top = top
        size = PixelSize(width: width, height: height)
        try size.checkLimits()
        isInterlaced = flags & 0x40 != 0
        var offset = start + 9
        guard let table = try Self.colourTable(file, flags: flags, offset: &offset) ?? globalTable,
            let codeSize = file.integer(at: offset, byteCount: 1), (1...8).contains(codeSize)
        else { throw .unreadable }
        colours = table
        self.codeSize = codeSize
        offset += 1
        data = Self.blocks(file, offset: &offset)
    }

    /// Reads a table of colours if the flags say that there is one.
    private static func colourTable(
        _ file: ByteReader, flags: Int, offset: inout Int
    ) throws(ThumbnailerStatus) -> [UInt8]? {
        guard flags & 0x80 != 0 else { return nil }
        let count = 2 << (flags & 7)
        guard let table = file.slice(at: offset, count: 3 * count) else { throw .unreadable }
        offset += 3 * count
        var colours = [UInt8](repeating: 0, count: 256 * 4)
        for index in 0..<256 { colours[index * 4 + 3] = 255 }
        for (index, value) in table.enumerated() { colours[index / 3 * 4 + index % 3] = value }
        return colours
    }

    /// Reads blocks of up to 255 bytes up to the empty one, or to the end of the file.
    private static func blocks(_ file: ByteReader, offset: inout Int) -> [UInt8] {
        var result: [UInt8] = []
        while let length = file.integer(at: offset, byteCount: 1) {
            offset += 1
            guard length > 0 else { return result }
            let count = min(length, file.count - offset)
            if let block = file.slice(at: offset, count: count) { result += block }
            offset += count
        }
        return result
    }

    /// Returns the indices of the frame in the order of the file; fewer than it has pixels if the data end early.
    func decodeIndices() -> [UInt8] { LZW.decode(data, codeSize: codeSize, countMax: size.width * size.height) }

    /// Writes a row of the screen: four bytes a pixel.
    func draw(row y: Int, indices: [UInt8], into row: inout [UInt8]) {
        for index in row.indices { row[index] = 0 }
        guard (top..<top + size.height).contains(y) else { return }
        let start = storedRow(y - top) * size.width
        let count = min(size.width, indices.count - start, screen.width - left)
        guard count > 0 else { return }
        for x in 0..<count {
            let colour = Int(indices[start + x]) * 4
            for channel in 0..<4 { row[(left + x) * 4 + channel] = colours[colour + channel] }
        }
    }

    /// Where the file has a row of the frame. An interlaced file has every eighth row first, from row 0, then every
    /// eighth from row 4, every fourth from row 2, and every second from row 1.
    private func storedRow(_ y: Int) -> Int {
        guard isInterlaced else { return y }
        let eighths = (size.height + 7) / 8
        let fromFour = (size.height + 3) / 8
        let fromTwo = (size.height + 1) / 4
        if y % 8 == 0 { return y / 8 }
        if y % 8 == 4 { return eighths + y / 8 }
        if y % 4 == 2 { return eighths + fromFour + y / 4 }
        return eighths + fromFour + fromTwo + y / 2
    }
}
