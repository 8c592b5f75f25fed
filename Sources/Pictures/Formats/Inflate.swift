// The first bytes of compressed data (zlib, RFC 1950; deflate, RFC 1951): enough to see whether a PNG has a colour
// profile. Pixels are never decompressed here.

/// Bits of bytes that may end anywhere. Reading past the end throws.
struct Inflate {
    private struct Unreadable: Error {}

    /// The code lengths of a Huffman code, and its symbols in the order of their codes.
    private struct Code {
        static let lengthMax = 15
        var counts = [Int](repeating: 0, count: lengthMax + 1)
        var symbols: [Int] = []

        init(_ lengths: some Collection<Int>) {
            for length in lengths { counts[length] += 1 }
            counts[0] = 0
            for length in 1...Self.lengthMax where counts[length] > 0 {
                symbols += lengths.enumerated().lazy.filter { $1 == length }.map { $0.offset }
            }
        }
    }

    private let bytes: ArraySlice<UInt8>
    private var bitIndex = 0
    private var output: [UInt8] = []
    private let outputMax: Int

    /// Returns the first bytes of the data, at most `count`; fewer if the data ends or cannot be read.
    static func first(_ count: Int, of bytes: ArraySlice<UInt8>) -> [UInt8] {
        var inflate = Inflate(bytes: bytes.dropFirst(2), outputMax: count)
        // Method 8 is deflate. A preset dictionary (0x20) is unknown here.
        guard let method = bytes.first, method & 15 == 8, let flags = bytes.dropFirst().first, flags & 0x20 == 0 else {
            return []
        }
        do {
            while try !inflate.readBlock() {}
        } catch {}
        return Array(inflate.output.prefix(count))
    }

    private init(bytes: ArraySlice<UInt8>, outputMax: Int) { (self.bytes, self.outputMax) = (bytes, outputMax) }

    private mutating func bits(_ count: Int) throws(Unreadable) -> Int {
        var value = 0
        for place in 0..<count {
            let index = bytes.startIndex + bitIndex / 8
            guard index < bytes.endIndex else { throw Unreadable() }
            value |= Int(bytes[index] >> UInt8(bitIndex % 8) & 1) << place
            bitIndex += 1
        }
        return value
    }

    /// Codes of one length are consecutive numbers, and begin after those that are shorter.
    private mutating func symbol(_ code: Code) throws(Unreadable) -> Int {
        var (value, first, index) = (0, 0, 0)
        for length in 1...Code.lengthMax {
            value |= try bits(1)
            let count = code.counts[length]
            if value - first < count { return code.symbols[index + value - first] }
            index += count
            first = (first + count) << 1
            value <<= 1
        }
        throw Unreadable()
    }

    /// Returns whether nothing more is to be read.
    private mutating func readBlock() throws(Unreadable) -> Bool {
        let isLast = try bits(1) == 1
        switch try bits(2) {
        case 0: try readStored()
        case 1:
            try readCompressed(Self.fixedLiterals, Self.fixedDistances)
        case 2:
            let (literals, distances) = try readCodes()
            try readCompressed(literals, distances)
        default: throw Unreadable()
        }
        return isLast || output.count >= outputMax
    }

    private mutating func readStored() throws(Unreadable) {
        bitIndex = (bitIndex + 7) / 8 * 8
        let count = try bits(16)
        _ = try bits(16)
        for _ in 0..<count where output.count < outputMax { output.append(UInt8(try bits(8))) }
    }

    private mutating func readCompressed(_ literals: Code, _ distances: Code) throws(Unreadable) {
        while output.count < outputMax {
            let symbol = try symbol(literals)
            if symbol == 256 { return }
            if symbol < 256 {
                output.append(UInt8(symbol))
                continue
            }
            guard symbol - 257 < Self.lengths.count else { throw Unreadable() }
            let (length, lengthBits) = Self.lengths[symbol - 257]
            let count = length + (try bits(lengthBits))
            let place = try self.symbol(distances)
            guard place < Self.distances.count else { throw Unreadable() }
            let (distance, distanceBits) = Self.distances[place]
            let back = distance + (try bits(distanceBits))
            guard back <= output.count else { throw Unreadable() }
            for _ in 0..<count { output.append(output[output.count - back]) }
        }
    }

    /// The codes of a block come as lengths, which are Huffman-coded themselves.
    private mutating func readCodes() throws(Unreadable) -> (literals: Code, distances: Code) {
        let (literalCount, distanceCount) = (try bits(5) + 257, try bits(5) + 1)
        let lengthCount = try bits(4) + 4
        var lengths = [Int](repeating: 0, count: 19)
        for place in Self.lengthOrder.prefix(lengthCount) { lengths[place] = try bits(3) }
        let code = Code(lengths)
        lengths = []
        while lengths.count < literalCount + distanceCount {
            switch try symbol(code) {
            case 16:
                guard let last = lengths.last else { throw Unreadable() }
                lengths += Array(repeating: last, count: 3 + (try bits(2)))
            case 17: lengths += Array(repeating: 0, count: 3 + (try bits(3)))
            case 18: lengths += Array(repeating: 0, count: 11 + (try bits(7)))
            case let length: lengths.append(length)
            }
        }
        guard lengths.count == literalCount + distanceCount else { throw Unreadable() }
        return (Code(lengths[..<literalCount]), Code(lengths[literalCount...]))
    }

    private static let lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    private static let fixedLiterals = Code(
        Array(repeating: 8, count: 144) + Array(repeating: 9, count: 112) + Array(repeating: 7, count: 24)
            + Array(repeating: 8, count: 8))
    private static let fixedDistances = Code(Array(repeating: 5, count: 30))

    /// The smallest value of each symbol, and how many bits are added.
    private static let lengths: [(Int, Int)] =
        (0..<8).map { (3 + $0, 0) } + (8..<28).map { ((4 + $0 % 4) << ($0 / 4 - 1) + 3, $0 / 4 - 1) } + [(258, 0)]
    private static let distances: [(Int, Int)] =
        (0..<4).map { (1 + $0, 0) } + (4..<30).map { ((2 + $0 % 2) << ($0 / 2 - 1) + 1, $0 / 2 - 1) }
}
