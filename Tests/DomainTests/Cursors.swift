// The text of cursors.
import Domain
import Testing

@Suite("A cursor", .timeLimit(.minutes(1)))
struct CursorTexts {
    @Test("is read back from its text", arguments: [(1, 0), (1, 1), (7, 1 << 40), (Int32.max, Int64.max)])
    func roundTrip(epoch: Int32, position: Int64) {
        let cursor = Cursor(epoch: epoch, position: Position(position))
        #expect(Cursor(parsing: cursor.description) == cursor)
    }

    @Test("keeps the form that clients hold from earlier versions")
    func keepsForm() {
        #expect(Cursor(epoch: 3, position: Position(123_456_789)).description == "AQAAAAMAAAAAB1vNFYM")
    }

    @Test("is refused when a character is missing, added or another", arguments: 0..<19)
    func refuses(index: Int) {
        let text = Array(Cursor(epoch: 3, position: Position(123_456_789)).description)
        var wrong = text
        wrong[index] = text[index] == "A" ? "B" : "A"
        #expect(Cursor(parsing: String(wrong)) == nil)
        wrong.remove(at: index)
        #expect(Cursor(parsing: String(wrong)) == nil)
        wrong = text
        wrong.insert("A", at: index)
        #expect(Cursor(parsing: String(wrong)) == nil)
    }
}
