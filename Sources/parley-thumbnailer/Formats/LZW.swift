// The compression of GIF: Lempel, Ziv and Welch's with codes of growing length (GIF89a specification, appendix F).

enum LZW {
    private static let codeCountMax = 4_096

    /// Returns at most `countMax` bytes; fewer if the data end early or name a code that does not exist yet.
    /// - Parameter codeSize: bits of a literal, 1 to 8.
    static func decode(_ data: [UInt8], codeSize: Int, countMax: Int) -> [UInt8] {
        let clear = 1 << codeSize
        let end = clear + 1
        // Each code is the string of its prefix and one more byte.
        var prefixes = [UInt16](repeating: 0, count: codeCountMax)
        var suffixes = [UInt8](repeating: 0, count: codeCountMax)
        var lengths = [UInt16](repeating: 1, count: codeCountMax)
        for literal in 0..<clear { suffixes[literal] = UInt8(literal) }
        var result: [UInt8] = []
        result.reserveCapacity(countMax)
        var (next, bitCount) = (end + 1, codeSize + 1)
        var previous: Int?
        var (bits, availableCount) = (0, 0)

        for byte in data {
            bits |= Int(byte) << availableCount
            availableCount += 8
            while availableCount >= bitCount {
                let code = bits & (1 << bitCount - 1)
                bits >>= bitCount
                availableCount -= bitCount
                if code == clear {
                    (next, bitCount) = (end + 1, codeSize + 1)
                    previous = nil
                    continue
                }
                guard code != end, code < next || (code == next && previous != nil), result.count < countMax
                else { return result }
                if let previous, next < codeCountMax {
                    prefixes[next] = UInt16(previous)
                    lengths[next] = lengths[previous] + 1
                    // A code that names itself begins and ends with the first byte of the previous string.
                    suffixes[next] = first(code == next ? previous : code, prefixes, suffixes, clear)
                    next += 1
                    if next == 1 << bitCount, bitCount < 12 { bitCount += 1 }
                }
                append(code, to: &result, prefixes, suffixes, lengths, countMax: countMax)
                previous = code
            }
        }
        return result
    }

    private static func first(_ code: Int, _ prefixes: [UInt16], _ suffixes: [UInt8], _ clear: Int) -> UInt8 {
        var code = code
        while code > clear { code = Int(prefixes[code]) }
        return suffixes[code]
    }

    /// Appends the string of a code. It is stored backwards.
    private static func append(
        _ code: Int, to result: inout [UInt8], _ prefixes: [UInt16], _ suffixes: [UInt8], _ lengths: [UInt16],
        countMax: Int
    ) {
        let start = result.count
        let length = Int(lengths[code])
        result.append(contentsOf: repeatElement(0, count: length))
        var code = code
        for index in (start..<start + length).reversed() {
            result[index] = suffixes[code]
            code = Int(prefixes[code])
        }
        if result.count > countMax { result.removeLast(result.count - countMax) }
    }
}
