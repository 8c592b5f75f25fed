// Collects the lines of an archive into parts of a bounded size. A value: no I/O.
import Domain
import Store

/// Reads bytes and makes parts. Holds one part, and the line that has not arrived whole.
package struct PartMaker {
    /// A part is complete with this many bytes or lines. Large enough that a call costs little, small enough for memory.
    package static let byteCountMax = 4 * 1_024 * 1_024
    package static let lineCountMax = 5_000

    private var splitter: LineSplitter
    private var parser: LineParser
    private var part: ImportPart

    /// - Parameter place: what is staged already.
    package init(from place: ImportPlace, limits: Limits) {
        splitter = LineSplitter(lineCount: place.lineCount)
        parser = LineParser(limits: limits)
        part = ImportPart(start: place.byteCount)
    }

    package mutating func append(_ bytes: some Collection<UInt8>) { splitter.append(bytes) }

    /// Returns the next part that is complete; nil if more bytes are needed. Throws `badLine`.
    package mutating func next() throws(ImportFailure) -> ImportPart? {
        while !isFull {
            guard let line = try splitter.next() else { return nil }
            try add(line, endByteCount: 1)
        }
        return take()
    }

    /// Returns what is left at the end of the archive; nil for nothing. Throws `badLine`.
    package mutating func rest() throws(ImportFailure) -> ImportPart? {
        if let line = splitter.rest() { try add(line, endByteCount: 0) }
        return part.isEmpty ? nil : take()
    }

    private var isFull: Bool { part.byteCount >= Self.byteCountMax || part.lineCount >= Self.lineCountMax }

    private mutating func take() -> ImportPart {
        defer { part = ImportPart(start: part.start + part.byteCount) }
        return part
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>, endByteCount: Int) throws(ImportFailure) {
        let line = try parser.parse(bytes, line: splitter.lineCount)
        part.byteCount += bytes.count + endByteCount
        part.lineCount += 1
        switch line {
        case .message(let message): part.messages.append(message)
        case .chunk(let chunk): part.chunks.append(chunk)
        case .row(let table, let row): part.rows[table, default: []].append(row)
        case .end: part.isComplete = true
        case .header, nil: break
        }
    }
}
