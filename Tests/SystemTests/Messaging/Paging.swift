// Lists and answers in several pages: every item once, in order, within the limits.

import Foundation
import Testing

extension SystemTests {
    @Suite("Paging", .timeLimit(.minutes(3)))
    struct Paging: TwoPeopleSuite {
        let people: TwoPeople

        init() async throws { people = try await TwoPeople() }

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
    }
}
