// Searching messages: the results, who finds them, their order and their snippets. This node has no search indexer: the
// tests index some messages themselves, so that each search covers indexed and unindexed ones.
import Domain
import TestSupport
import Testing

@Suite("Searching messages", .timeLimit(.minutes(1)))
struct SearchingMessages {
    /// Indexes up to `limit` of the messages that are not indexed, or all.
    private func index(_ limit: Int? = nil) async throws {
        let database = try await TestNode.shared().database
        if let limit {
            _ = try await Psql.run("select search_index(\(limit))", conninfo: database)
        } else {
            _ = try await Psql.run(
                "do $$ begin while (search_index(1000)).looked > 0 loop end loop; end $$", conninfo: database)
        }
    }

    private func search(_ query: String, by person: Person, _ more: String = "") async throws -> Reply {
        let reply = try await person.client.get("/v1/search?q=\(percentEncoded(query))\(more)")
        #expect(reply.status == 200, "\(reply.text)")
        return reply
    }

    private func texts(_ reply: Reply) -> [String] {
        reply["results"]?.array?.compactMap { $0["message"]?["payload"]?["text"]?.string } ?? []
    }

    @Test("finds words by prefix, ignoring case and accents, newest first", arguments: [false, true])
    func words(isIndexed: Bool) async throws {
        let ann = try await Person.make("Ann")
        let thread = try await ann.group()
        for text in ["Crème brûlée", "creme fraiche", "ice cream", "CRÈMES", "incremental"] {
            try await ann.say(text, in: thread)
        }
        if isIndexed { try await index() }
        #expect(texts(try await search("crème", by: ann)) == ["CRÈMES", "creme fraiche", "Crème brûlée"])
        #expect(texts(try await search("CREM", by: ann)) == ["CRÈMES", "creme fraiche", "Crème brûlée"])
        #expect(texts(try await search("fra cre", by: ann)) == ["creme fraiche"])
        #expect(texts(try await search("creme nothing", by: ann)) == [])
        #expect(texts(try await search("rème", by: ann)) == [])
    }

    @Test(
        "marks the match in text that is safe as HTML",
        arguments: [
            ("<b>Tom</b> & \"Ann\"", "tom", "&lt;b&gt;<mark>Tom</mark>&lt;/b&gt; &amp; &quot;Ann&quot;"),
            ("<mark>x</mark> café's", "cafe", "&lt;mark&gt;x&lt;/mark&gt; <mark>café</mark>&#39;s"),
            ("no mark", "no ma", "<mark>no</mark> <mark>mark</mark>"),
            ("straße", "strasse", "<mark>straße</mark>"),
        ])
    func snippets(text: String, query: String, snippet: String) async throws {
        let ann = try await Person.make("Ann")
        let thread = try await ann.group()
        try await ann.say(text.replacing("\"", with: "\\\""), in: thread)
        #expect(try await search(query, by: ann).string("results.0.snippet") == snippet)
    }

    @Test("returns an excerpt of a long text around the first match")
    func longTexts() async throws {
        let ann = try await Person.make("Ann")
        let filling = String(repeating: "lorem ipsum ", count: 100)
        try await ann.say(filling + "needle " + filling, in: try await ann.group())
        let snippet = try await search("needle", by: ann).string("results.0.snippet")
        #expect(snippet.hasPrefix("…") && snippet.hasSuffix("…") && snippet.contains("<mark>needle</mark>"))
        #expect((100...300).contains(snippet.count))
    }

    @Test("searches only joined threads, and one of them if asked", arguments: [false, true])
    func access(isIndexed: Bool) async throws {
        let ann = try await Person.make("Ann")
        let bob = try await Person.make("Bob")
        let both = try await ann.group(with: [bob])
        let own = try await ann.group()
        try await ann.say("secret one", in: own)
        try await ann.say("secret two", in: both)
        if isIndexed { try await index() }
        #expect(texts(try await search("secret", by: ann)) == ["secret two", "secret one"])
        #expect(texts(try await search("secret", by: ann, "&thread=\(own)")) == ["secret one"])
        #expect(texts(try await search("secret", by: bob)) == ["secret two"])
        let refused = try await bob.client.get("/v1/search?q=secret&thread=\(own)")
        #expect(refused.problemCode == "thread_not_found")
        #expect(try await bob.client.delete("/v1/threads/\(both)/members/me").status == 204)
        #expect(texts(try await search("secret", by: bob)) == [])
        let database = try await TestNode.shared().database
        _ = try await Psql.run(
            "update members set hidden_before_seq = 2 where thread_id = '\(own)' and user_id = '\(ann.id)'",
            conninfo: database)
        #expect(texts(try await search("secret", by: ann)) == ["secret two"])
    }

    @Test("does not find a deleted message, and the index holds nothing of it", arguments: [false, true])
    func deleted(isIndexed: Bool) async throws {
        let ann = try await Person.make("Ann")
        let thread = try await ann.group()
        let id = try await ann.say("goodbye cruel world", in: thread).string("id")
        try await ann.say("goodbye again", in: thread)
        if isIndexed { try await index() }
        #expect(texts(try await search("goodbye", by: ann)).count == 2)
        #expect(try await ann.client.delete("/v1/threads/\(thread)/messages/\(id)?for=everyone").status == 204)
        #expect(texts(try await search("goodbye", by: ann)) == ["goodbye again"])
        try await index()
        #expect(texts(try await search("goodbye", by: ann)) == ["goodbye again"])
        let words = try await Psql.run(
            "select string_agg(word, ' ' order by word) from message_words where thread_id = '\(thread)'",
            conninfo: try await TestNode.shared().database)
        #expect(words == "again goodbye")
    }

    @Test("finds an edited message by its current text", arguments: [false, true])
    func edited(isIndexed: Bool) async throws {
        let ann = try await Person.make("Ann")
        let thread = try await ann.group()
        let id = try await ann.say("hello there", in: thread).string("id")
        if isIndexed { try await index() }
        let path = "/v1/threads/\(thread)/messages/\(id)"
        #expect(try await ann.client.patch(path, #"{"payload":{"text":"hello moon"}}"#).status == 200)
        for _ in 0..<2 {
            #expect(texts(try await search("there", by: ann)) == [])
            #expect(texts(try await search("moon", by: ann)) == ["hello moon"])
            #expect(texts(try await search("hello", by: ann)) == ["hello moon"])
            try await index()
        }
    }

    @Test("does not find messages deleted for the caller alone, which others still find", arguments: [false, true])
    func deletedForMe(isIndexed: Bool) async throws {
        let ann = try await Person.make("Ann")
        let bob = try await Person.make("Bob")
        let thread = try await ann.group(with: [bob])
        let id = try await ann.say("only mine", in: thread).string("id")
        if isIndexed { try await index() }
        #expect(try await ann.client.delete("/v1/threads/\(thread)/messages/\(id)?for=me").status == 204)
        #expect(texts(try await search("only", by: ann)) == [])
        #expect(texts(try await search("only", by: bob)) == ["only mine"])
    }

    @Test("returns each match once over all pages, in order, whether indexed or not")
    func pages() async throws {
        let ann = try await Person.make("Ann")
        let threads = [try await ann.group(), try await ann.group(), try await ann.group()]
        var expected: [String] = []
        for number in 0..<40 {
            let isMatch = number % 3 != 0
            let text = isMatch ? "match\(number)" : "other\(number)"
            try await ann.say(text, in: threads[number * 7 % 3])
            if isMatch { expected.insert(text, at: 0) }
            if number % 10 == 5 { try await index(7) }
        }
        for _ in 0..<4 {
            var found: [String] = []
            var next: String? = ""
            while let page = next, found.count < 100 {
                let reply = try await search("match", by: ann, "&limit=4" + (page.isEmpty ? "" : "&page=\(page)"))
                #expect(texts(reply).count <= 4 && reply["limit"]?.integer == 4)
                found += texts(reply)
                next = reply["next"]?.string
            }
            #expect(found == expected)
            try await index(50)
        }
    }

    @Test(
        "refuses invalid searches",
        arguments: [
            ("", "q"), ("q=", "q"), ("q=%20-%20", "q"), ("q=" + String(repeating: "a", count: 257), "q"),
            ("q=" + (1...17).map { "a\($0)" }.joined(separator: "+"), "q"), ("q=a&thread=x", "thread"),
            ("q=a&page=x", "page"),
            ("q=a&limit=0", "limit"), ("q=a&what=x", "what"),
        ])
    func refusals(query: String, field: String) async throws {
        let reply = try await Person.make("Ann").client.get("/v1/search?\(query)")
        #expect(reply.problemCode == "invalid" && reply.errorFields == [field], "\(reply.text)")
    }
}
