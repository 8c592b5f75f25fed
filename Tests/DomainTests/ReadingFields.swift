// How a request's fields are collected, with all mistakes at once.
import Domain
import Testing

@Suite("Reading fields", .timeLimit(.minutes(1)))
struct ReadingFields {
    private func body(_ text: String) throws -> Fields<JSONValue> { try Fields(JSONReader.read(Array(text.utf8))) }

    @Test("returns the values when there are no mistakes")
    func givesValues() throws {
        var fields = try body(#"{"username":"ann","device_name":null,"flag":true}"#)
        let username = fields.required("username", Username.self)
        let device = fields.optional("device_name", DeviceName.self)
        let flag = fields.required("flag", Bool.self)
        let values = try fields.values(username, flag)
        #expect(values.0.text == "ann")
        #expect(values.1)
        #expect(device == nil)
    }

    @Test("reports all mistakes at once, with unknown names")
    func tellsAll() throws {
        var fields = try body(#"{"username":"-","password":7,"nmae":"Ann","x":{}}"#)
        let username = fields.required("username", Username.self)
        let password = fields.required("password", Password.self)
        let name = fields.required("name", DisplayName.self)
        let error = #expect(throws: Invalid.self) { _ = try fields.values(username, password, name) }
        #expect(error?.fields.map(\.field) == ["username", "password", "name", "nmae", "x"])
    }

    @Test("reads null as absent for optional fields, and as a value where null has a meaning")
    func readsNull() throws {
        var fields = try body(#"{"a":null,"b":null,"c":null}"#)
        #expect(fields.optional("a", DisplayName.self) == nil)
        let image = fields.given("b") { json throws(Invalid) in try ImageURL?(json) }
        #expect(image == .some(nil))
        #expect(fields.required("c", DisplayName.self) == nil)
        let error = #expect(throws: Invalid.self) { try fields.end() }
        #expect(error?.fields.map(\.field) == ["c"])
    }

    @Test("refuses a body that is no object", arguments: ["[]", "1", "\"a\"", "null"])
    func refusesOthers(_ text: String) throws {
        let error = #expect(throws: Invalid.self) { try body(text) }
        #expect(error.map { Problem($0).fields.map(\.field) } == ["body"])
    }

    @Test("names where in a list the mistake is")
    func namesEntries() throws {
        var fields = try body(#"{"members":["x","018f3c2a-0000-7000-8000-000000000000",3]}"#)
        _ = fields.required("members") { json throws(Invalid) in
            try json.entries(countMax: 10) { entry throws(Invalid) in try UserID(entry) }
        }
        let error = #expect(throws: Invalid.self) { try fields.end() }
        #expect(error?.fields.map(\.field) == ["members[0]", "members[2]"])
    }

    @Test("bounds how much of a client's keys it echoes, and how many mistakes it reports")
    func boundsEcho() throws {
        let long = String(repeating: "k", count: 5_000)
        let many = (0..<500).map { "\"\($0)\":0" }.joined(separator: ",")
        let fields = try body("{\"\(long)\":1,\(many)}")
        let error = try #require(throws: Invalid.self) { try fields.end() }
        #expect(error.fields.count == 100)
        #expect(error.fields.allSatisfy { $0.field.count <= 64 })
    }
}

@Suite("Reading a query", .timeLimit(.minutes(1)))
struct ReadingAQuery {
    @Test("undoes percent-encoding and reads plus as a space")
    func decodes() throws {
        var query = Fields(query: "a=%C3%A9+x%2B%26&b=&c")
        #expect(query.given("a") { text throws(Invalid) in text } == "é x+&")
        #expect(query.given("b") { text throws(Invalid) in text } == "")
        #expect(query.given("c") { text throws(Invalid) in text } == "")
        try query.end()
    }

    @Test(
        "refuses broken encodings, repeated and unknown names, U+0000",
        arguments: [
            ("a=%", "a"), ("a=%4", "a"), ("a=%zz", "a"), ("a=%ff", "a"), ("a=%c0%af", "a"), ("a=%ed%a0%80", "a"),
            ("a=1&a=1", "a"), ("a=%00", "a"), ("b=1", "b"), ("%ff=1", "query"), ("=1", ""),
        ])
    func refuses(_ text: String, _ field: String) {
        var query = Fields(query: text[...])
        _ = query.given("a") { text throws(Invalid) in text }
        let error = #expect(throws: Invalid.self) { try query.end() }
        #expect(error?.fields.map(\.field) == [field])
    }

    @Test("reports a hundred unknown fields, and checks no more")
    func boundsUnknown() throws {
        let members = (0..<100_000).map { JSONValue.Member("field\($0)", .null) }
        let fields = try Fields(.object(members))
        let error = #expect(throws: Invalid.self) { try fields.end() }
        #expect(error?.fields.count == 100)
    }

    @Test("refuses more parameters than any call has, at once")
    func boundsCount() {
        let query = Fields(query: (0..<10_000).map { "p\($0)=1" }.joined(separator: "&")[...])
        let error = #expect(throws: Invalid.self) { try query.end() }
        #expect(error?.fields.first?.field == "query")
    }

    @Test("has a limit of 30 unless given, from 1 to 200")
    func readsLimit() throws {
        var none = Fields(query: "")
        #expect(none.limit() == 30)
        for (text, expected) in [("1", 1), ("200", 200)] {
            var query = Fields(query: "limit=\(text)")
            #expect(query.limit() == expected)
            try query.end()
        }
        for text in ["0", "201", "-1", "+5", "1.5", "", "abc", "99999999999999999999", "%20" + "1", "١"] {
            var query = Fields(query: "limit=\(text)")
            _ = query.limit()
            #expect(throws: Invalid.self) { try query.end() }
        }
    }

    @Test("accepts page keys that were returned and no others")
    func readsPage() throws {
        let key = PageKey(rank: -7, id: UserID.make().uuid)
        var query = Fields(query: "page=\(key)&limit=5")
        let request = query.pageRequest()
        try query.end()
        #expect(request.after == key)
        #expect(request.limit == 5)
        var wrong = Fields(query: "page=\(key.description.dropLast())")
        _ = wrong.pageRequest()
        #expect(throws: Invalid.self) { try wrong.end() }
    }
}
