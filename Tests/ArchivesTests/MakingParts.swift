import Archives
// How the bytes of an archive become parts, whatever pieces they arrive in.
import Domain
import Store
import TestSupport
import Testing

@Suite("Parts of an archive", .timeLimit(.minutes(1)))
struct MakingParts {
    private func place(_ byteCount: Int = 0, _ lineCount: Int = 0) -> ImportPlace {
        ImportPlace(id: .make(), byteCount: byteCount, lineCount: lineCount)
    }

    private func parts(_ bytes: [UInt8], pieceByteCount: Int) throws -> [ImportPart] {
        var maker = PartMaker(from: place(), limits: Limits())
        var parts: [ImportPart] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            maker.append(rest.prefix(pieceByteCount))
            rest = rest.dropFirst(pieceByteCount)
            while let part = try maker.next() { parts.append(part) }
        }
        if let part = try maker.rest() { parts.append(part) }
        return parts
    }

    @Test("have the same lines, whatever pieces the bytes arrive in", arguments: [1, 7, 64, 1_000_000])
    func pieces(byteCount: Int) throws {
        let bytes = Array(SampleArchive().text.utf8)
        let parts = try parts(bytes, pieceByteCount: byteCount)
        #expect(parts.count == 1 && parts[0].byteCount == bytes.count && parts[0].isComplete)
        #expect(parts[0].messages.count == 6 && parts[0].rows[.users]?.count == 3)
    }

    @Test("follow each other byte by byte, and are bounded in lines")
    func bounded() throws {
        let line = SampleArchive.line(
            "block",
            #""user_id":"\#(UserID.make())","blocked_id":"\#(UserID.make())","created_at":"2020-01-01T00:00:00Z""#)
        let text = Array(repeating: line, count: 2 * PartMaker.lineCountMax + 3).joined(separator: "\n")
        let parts = try parts(Array(text.utf8), pieceByteCount: 100_000)
        #expect(parts.map(\.lineCount) == [PartMaker.lineCountMax, PartMaker.lineCountMax, 3])
        var start = 0
        for part in parts {
            #expect(part.start == start)
            start += part.byteCount
        }
        #expect(start == text.utf8.count)
    }

    @Test("continue where an import was left")
    func continued() throws {
        let lines = SampleArchive().lines
        let first = Array((lines[0] + "\n").utf8)
        var maker = PartMaker(from: place(first.count, 1), limits: Limits())
        maker.append(Array((lines[1] + "\n\n" + "{").utf8))
        #expect(try maker.next() == nil)
        #expect(throws: ImportFailure.self) { try maker.rest() }
        var whole = PartMaker(from: place(first.count, 1), limits: Limits())
        whole.append(Array(lines[1].utf8))
        let part = try #require(try whole.rest())
        #expect(part.start == first.count && part.rows[.users]?.first?["line"]?.integer == 2)
    }

    @Test("have no line of more than 1 MiB")
    func longLine() throws {
        var maker = PartMaker(from: place(), limits: Limits())
        maker.append(Array("\n".utf8) + Array(repeating: UInt8(ascii: " "), count: LineSplitter.lineByteCountMax))
        #expect(try maker.next() == nil)
        maker.append([UInt8(ascii: " ")])
        #expect(throws: ImportFailure.badLine(2, "A line may have at most 1048576 bytes.")) { try maker.next() }
    }
}
