// The ids that the server makes, and how long a cursor may be.
import Domain
import Testing

@Suite("Server-made ids", .timeLimit(.minutes(1)))
struct ServerMadeIDs {
    @Test("are UUIDv7: milliseconds, version 7, variant 10")
    func layout() {
        let id = MessageID.make(atMs: 1_763_719_200_123)
        #expect(id.description.hasPrefix("019aa5db-3d7b-7"))
        #expect(id.uuid.uuid.8 >> 6 == 0b10)
    }

    @Test("of threads have lane 0 in the low 8 bits of `rand_a`, and are random elsewhere")
    func laneByte() {
        let ids = (0..<1_000).map { _ in ThreadID.make() }
        #expect(ids.allSatisfy { $0.uuid.uuid.7 == 0 && $0.uuid.uuid.6 >> 4 == 7 })
        #expect(Set(ids.map { $0.uuid.uuid.6 }).count == 16)
        #expect(Set(ids).count == ids.count)
    }

    @Test("of other things are random there")
    func otherKinds() {
        #expect(Set((0..<1_000).map { _ in MessageID.make().uuid.uuid.7 }).count > 200)
    }
}

@Suite("Cursors", .timeLimit(.minutes(1)))
struct Cursors {
    @Test("are read again as they were written")
    func roundTrip() throws {
        let cursor = Cursor(epoch: 3, position: Position(1 << 40))
        #expect(try Cursor(text: cursor.description) == cursor)
        #expect(cursor.description.utf8.count == 19)
    }

    @Test("of up to 2,048 characters are read; a longer text is refused for its length")
    func lengths() {
        func refusal(_ count: Int) -> String? {
            let invalid = #expect(throws: Invalid.self) { try Cursor(text: String(repeating: "A", count: count)) }
            return invalid?.fields.first?.detail
        }
        #expect(refusal(2_048) == "Must be a cursor that this service returned.")
        #expect(refusal(2_049) == "Must have at most 2048 characters.")
    }
}
