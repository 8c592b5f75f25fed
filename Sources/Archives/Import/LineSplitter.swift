// Cuts the bytes of an archive into lines. A value: no I/O.

/// Collects bytes until a line is whole. Holds at most one line and the bytes of the last `append`.
package struct LineSplitter {
    /// The longest line, without its end.
    package static let lineByteCountMax = 1_048_576

    private var bytes: [UInt8] = []
    /// Where the next line begins in `bytes`.
    private var start = 0
    /// Up to where no end of a line was found.
    private var searched = 0
    /// Lines that were returned.
    package private(set) var lineCount: Int

    /// - Parameter lineCount: the lines before the first byte, of an archive that is continued.
    package init(lineCount: Int = 0) { self.lineCount = lineCount }

    package mutating func append(_ new: some Collection<UInt8>) {
        if start > 0 {
            bytes.removeFirst(start)
            searched -= start
            start = 0
        }
        bytes.append(contentsOf: new)
    }

    /// Returns the next whole line without its end; nil if it has not arrived. Throws `badLine` for one that is too long.
    package mutating func next() throws(ImportFailure) -> ArraySlice<UInt8>? {
        let end = bytes[searched...].withUnsafeBufferPointer { $0.firstIndex(of: UInt8(ascii: "\n")) }.map {
            searched + $0
        }
        guard let end else {
            searched = bytes.count
            try check(bytes.count - start)
            return nil
        }
        try check(end - start)
        defer {
            start = end + 1
            searched = start
            lineCount += 1
        }
        return bytes[start..<end]
    }

    /// Returns the last line, which may have no end; nil if there is none. Call it when all bytes were appended and
    /// `next` has returned nil.
    package mutating func rest() -> ArraySlice<UInt8>? {
        guard start < bytes.count else { return nil }
        defer {
            start = bytes.count
            searched = start
            lineCount += 1
        }
        return bytes[start...]
    }

    private func check(_ byteCount: Int) throws(ImportFailure) {
        if byteCount > Self.lineByteCountMax {
            throw .badLine(lineCount + 1, "A line may have at most \(Self.lineByteCountMax) bytes.")
        }
    }
}
