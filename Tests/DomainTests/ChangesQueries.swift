// The parameters of the changes feed.
import Domain
import Testing

@Suite("A query of the changes feed", .timeLimit(.minutes(1)))
struct ChangesQueries {
    @Test("has defaults")
    func defaults() throws {
        let query = try ChangesQuery("")
        #expect(query.start == .head && query.types == nil && query.limit == 100 && query.waitS == nil)
    }

    @Test("is read, each parameter in its form")
    func reads() throws {
        let cursor = Cursor(epoch: 3, position: Position(7))
        let query = try ChangesQuery("cursor=\(cursor)&types=message.created,receipt.updated&limit=200&wait=0")
        #expect(query.start == .cursor(cursor) && query.types == [.messageCreated, .receiptUpdated])
        #expect(query.limit == 200 && query.waitS == 0)
        let since = try ChangesQuery("since=1970-01-01T00%3A00%3A01Z")
        #expect(since.start == .time(Timestamp(microsSince1970: 1_000_000)))
        #expect(try ChangesQuery("consumer=crm_2.a-b").start == .consumer(ConsumerName(text: "crm_2.a-b")))
    }

    @Test("has names of consumers that need no escaping anywhere", arguments: ["", "A", "ä", "a b", "a/b", "a%"])
    func names(text: String) {
        #expect(throws: Invalid.self) { try ConsumerName(text: text) }
        #expect(throws: Invalid.self) { try ConsumerName(text: String(repeating: "a", count: 65)) }
    }

    @Test("has types as an array in bodies")
    func typesInBodies() throws {
        #expect(try EventTypes(.array([.string("user.updated")])).types == [.userUpdated])
        for json: JSONValue in [
            .array([]), .null, .string("user.updated"), .array([.string("x")]), .array([.null]),
            .array([.string("settings.updated")]),
        ] {
            #expect(throws: Invalid.self) { try EventTypes(json) }
        }
    }
}
