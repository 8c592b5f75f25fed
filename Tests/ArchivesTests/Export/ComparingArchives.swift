// The comparison that tests of archives rely on.
import TestSupport
import Testing

@Suite("Comparing archives", .timeLimit(.minutes(1)))
struct ComparingArchives {
    private static let head = #"{"type":"archive","data":{"created_at":"A"}}"# + "\n"
    private static let end = #"{"type":"end","data":{"lines":3}}"# + "\n"

    @Test("ignores the first and the last line")
    func ignoresTheFrame() {
        let (one, other) = (Self.head + "a\nb\n" + Self.end, "a\nb\n")
        #expect(ArchiveComparison(one, other).isEqual)
    }

    @Test("says what differs: missing, additional and repeated lines, and the order")
    func differences() {
        let comparison = ArchiveComparison("a\nb\nb\n", "b\nc\n")
        #expect(comparison.onlyInFirst == ["a", "b"] && comparison.onlyInSecond == ["c"] && !comparison.isEqual)
        #expect("\(comparison)".contains("2 lines only in the first:\n  a\n"))
        let reordered = ArchiveComparison("a\nb\n", "b\na\n")
        #expect(reordered.isReordered && !reordered.isEqual)
    }
}
