// Lists and answers in several pages: every item once, in order, within the limits.

import Foundation
import Testing

extension SystemTests {
    @Suite("Paging", .timeLimit(.minutes(3)))
    struct Paging: TwoPeopleSuite {
        let people: TwoPeople

        init() async throws { people = try await TwoPeople() }

        /// All items of a list, `limit` at a time, from alternating nodes.
        private func all(_ path: String, of name: String, limit: Int) async throws -> (items: [JSON], sizes: [Int]) {
            let connections = nodes.addresses.map(Connection.init)
            var (items, sizes): ([JSON], [Int]) = ([], [])
            var page = ""
            while sizes.count < 100 {
                let answer = try await connections[sizes.count % 2].get("\(path)limit=\(limit)\(page)", as: ann)
                try #require(answer.status == 200, "\(answer)")
                items += answer.json[name].items
                sizes.append(answer.json[name].items.count)
                guard let next = answer.json["next"].string else { break }
                page = "&page=\(next)"
            }
            return (items, sizes)
        }

        @Test("returns each thread of the inbox once, newest activity first")
        func inbox() async throws {
            let connection = Connection(nodes.a.address)
            var threads: [String] = []
            for _ in 1...11 { threads.append(try await connection.thread("group", by: ann, with: [bob])) }
            // Some threads move to the front again.
            for thread in [threads[3], threads[0]] { _ = try await connection.sent("hi", in: thread, as: bob) }
            let expected =
                [threads[0], threads[3]] + threads.reversed().filter { $0 != threads[0] && $0 != threads[3] }
            let (items, sizes) = try await all("/v1/inbox?", of: "threads", limit: 4)
            #expect(items.map { $0["id"].string } == expected)
            #expect(sizes == [4, 4, 3])
            let unread = try await all("/v1/inbox?unread=true&", of: "threads", limit: 1)
            #expect(unread.items.map { $0["id"].string } == Array(expected.prefix(2)))
        }

        @Test("reads the history in both directions, by seq, by id and by time")
        func history() async throws {
            let connection = Connection(nodes.a.address)
            let thread = try await connection.thread("direct", by: ann, with: [bob])
            var sent: [JSON] = []
            for number in 1...10 { sent.append(try await connection.say("\(number)", in: thread, as: ann).json) }
            func page(_ query: String) async throws -> (seqs: [Int], end: Bool?) {
                let answer = try await nodes.b.client.get("/v1/threads/\(thread)/messages?\(query)", as: bob)
                try #require(answer.status == 200, "\(answer)")
                #expect(answer.json["head"] == 10)
                return (answer.json["messages"].items.compactMap { $0["seq"].int }, answer.json["end"].bool)
            }
            #expect(try await page("limit=3") == ([8, 9, 10], false))
            #expect(try await page("limit=3&before=8") == ([5, 6, 7], false))
            #expect(try await page("limit=5&before=4") == ([1, 2, 3], true))
            #expect(try await page("limit=3&after=7") == ([8, 9, 10], true))
            #expect(try await page("limit=3&after=2") == ([3, 4, 5], false))
            #expect(try await page("limit=3&after=\(sent[4]["id"].string ?? "")") == ([6, 7, 8], false))
            #expect(try await page("limit=3&before=\(sent[4]["id"].string ?? "")") == ([2, 3, 4], false))
            #expect(try await page("after=2&before=6") == ([3, 4, 5], true))
            #expect(try await page("after=10") == ([], true))
            #expect(try await page("before=1") == ([], true))
            #expect(try await page("after=2001-01-01T00:00:00Z&limit=2") == ([1, 2], false))
            #expect(try await page("before=2101-01-01T00:00:00Z&limit=2") == ([9, 10], false))
            // A time picks the starting seq: from the first message of that instant on.
            let time = sent[4]["timestamp"].string ?? ""
            let first = (sent.first { $0["timestamp"].string == time })?["seq"].int ?? 0
            #expect(try await page("after=\(time)&limit=1").seqs == [first])
        }

        @Test("limits a long catch-up by bytes too, and ends caught up")
        func bytes() async throws {
            let connection = Connection(nodes.a.address)
            let thread = try await connection.thread("direct", by: ann, with: [bob])
            let start = try await connection.cursor(of: bob)
            let text = String(repeating: "💬", count: 4_000)
            for _ in 1...150 { _ = try await connection.sent(text, in: thread, as: ann) }
            for address in nodes.addresses {
                let reader = Connection(address)
                var (cursor, seqs, largest): (String, [Int?], Int) = (start, [], 0)
                while true {
                    let answer = try await reader.sync(bob, from: cursor, limit: 200)
                    try #require(answer.status == 200, "\(answer)")
                    largest = max(largest, answer.body.count)
                    seqs += answer.told.map { $0["data"]["seq"].int }
                    cursor = answer.json["cursor"].string ?? ""
                    if answer.json["more"] != true { break }
                }
                #expect(seqs == Array(1...150))
                #expect(largest < 2 << 20, "150 messages of 16 KB in one answer")
            }
        }

        @Test("ends a page of the history at 1 MiB in both directions, and reports that there is more")
        func largePages() async throws {
            let connection = Connection(nodes.a.address)
            let thread = try await connection.thread("direct", by: ann, with: [bob])
            let text = String(repeating: "x", count: 16_000)
            for _ in 1...150 { _ = try await connection.sent(text, in: thread, as: ann) }
            for isForward in [true, false] {
                var seqs: [Int] = []
                var bound = isForward ? "after=0" : "before=151"
                for _ in 0..<10 {
                    let path = "/v1/threads/\(thread)/messages?limit=200&\(bound)"
                    let answer = try await connection.get(path, as: bob)
                    #expect(answer.body.count < (1 << 20) + 1_000)
                    let page = answer.json["messages"].items.compactMap { $0["seq"].int }
                    try #require(!page.isEmpty)
                    seqs = isForward ? seqs + page : page + seqs
                    bound = isForward ? "after=\(page[page.count - 1])" : "before=\(page[0])"
                    if answer.json["end"] == true { break }
                }
                #expect(seqs == Array(1...150))
            }
        }

        @Test("returns texts as they were sent, in any script")
        func texts() async throws {
            let thread = try await nodes.a.client.thread("direct", by: ann, with: [bob])
            let texts = [
                "e\u{301} and é", "👩‍👩‍👧‍👦", "\u{202e}right to left", "tab\tnewline\nquote\"backslash\\", "\u{1}\u{1f}\u{7f}",
                "'; drop table messages; --", "%s%n{}$1", "</script>", "\u{feff}\u{fffd}\u{10ffff}", " ",
            ]
            for text in texts {
                let sent = try await nodes.a.client.say(text, in: thread, as: ann)
                try #require(sent.status == 201, "\(sent)")
                let id = sent.json["id"].string ?? ""
                let read = try await nodes.b.client.get("/v1/threads/\(thread)/messages/\(id)", as: bob).json
                // Compares scalars: Swift's == treats é and e with an accent as equal.
                let scalars = read["payload"]["text"].string.map { Array($0.unicodeScalars) }
                #expect(scalars == Array(text.unicodeScalars))
            }
        }
    }
}
