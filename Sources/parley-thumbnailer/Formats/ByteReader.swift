// Integers in the bytes of a file.

/// Reads integers at offsets that a file names; nil beyond its end.
struct ByteReader {
    let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    var count: Int { bytes.count }

    /// - Parameter byteCount: at most 4.
    func integer(at offset: Int, byteCount: Int, isBigEndian: Bool = true) -> Int? {
        guard let field = slice(at: offset, count: byteCount) else { return nil }
        return isBigEndian
            ? field.reduce(0) { $0 << 8 | Int($1) } : field.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// The bytes from `offset` on; nil unless all `count` are there.
    func slice(at offset: Int, count: Int) -> ArraySlice<UInt8>? {
        guard offset >= 0, count >= 0, offset <= self.count, count <= self.count - offset else { return nil }
        let start = bytes.startIndex + offset
        return bytes[start..<start + count]
    }

    func has(_ text: StaticString, at offset: Int) -> Bool {
        text.withUTF8Buffer { text in slice(at: offset, count: text.count)?.elementsEqual(text) ?? false }
    }
}
