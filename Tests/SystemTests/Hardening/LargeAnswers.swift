// Lists that can become long: receipts of a large room, search results, the inbox.

import TestSupport
import Testing

extension SystemTests {
    @Suite("Large answers", .timeLimit(.minutes(5)))
    struct LargeAnswers {
        private static let pageByteCountMax = (1 << 20) + 1_000

        /// A room with `count` further members, who all received its first message. The caller created it.
        private func room(
            _ node: Node, _ database: String, by owner: Person, memberCount: Int
        ) async throws -> (String, String) {
            let room = try await node.client.thread("room", by: owner, with: [])
            let message = try await node.client.sent("hello everyone", in: room, as: owner)
            try await Psql.run(
                """
                with people as (
                    insert into users (id, name, created_at)
                    select gen_random_uuid(), 'Member ' || n, now() from generate_series(1, \(memberCount)) n returning id
                ), joined as (
                    insert into members (thread_id, user_id, role, status, joined_at, read_seq, delivered_seq, delivered_at)
                    select '\(room)', p.id, 'member', 'joined', now(), 1, 1, now() from people p returning user_id
                )
                insert into membership_spans (user_id, thread_id, from_pos) select j.user_id, '\(room)', 1 from joined j;
                update threads set member_count = member_count + \(memberCount) where id = '\(room)';
                analyze members, users;
                """, conninfo: database)
            return (room, message)
        }

        @Test("receipts of a message come in pages with each member once, and reading them delays no other user")
        func receipts() async throws {
            let database = try await TestCluster.shared().createDatabase()
            let node = try await Node.start(database: database)
            let others = try await OtherUsers.join(node)
            let eve = try await node.client.register("Eve")
            let (room, message) = try await room(node, database, by: eve, memberCount: 20_000)
            let path = "/v1/threads/\(room)/messages/\(message)/receipts"
            let notice = try await others.notice(connectionCount: 4) { connection, _ in
                _ = try await connection.get(path + "?limit=200", as: eve)
            }
            notice.expect("receipts of a room of 20,000", ratioMax: 40)

            let connection = Connection(node.address)
            #expect(try await connection.get(path, as: eve).json["receipts"].items.count == 30)
            #expect(try await connection.get(path + "?limit=201", as: eve).status == 422)
            var (seen, page): (Set<String>, String) = ([], "")
            for _ in 0..<101 {
                let answer = try await connection.get(path + "?limit=200" + page, as: eve)
                try #require(answer.status == 200, "\(answer)")
                #expect(answer.json["limit"] == 200 && answer.body.count < Self.pageByteCountMax)
                let users = answer.json["receipts"].items.compactMap { $0["user"]["id"].string }
                #expect(seen.isDisjoint(with: users))
                seen.formUnion(users)
                guard let next = answer.json["next"].string else { break }
                page = "&page=\(next)"
            }
            #expect(seen.count == 20_000)
            try await node.stop()
        }

        @Test("a page reads a bounded number of members, and all pages together list every recipient")
        func sparseReceipts() async throws {
            let database = try await TestCluster.shared().createDatabase()
            let node = try await Node.start(database: database)
            let eve = try await node.client.register("Eve")
            let (room, _) = try await room(node, database, by: eve, memberCount: 5_000)
            let message = try await node.client.sent("who is there?", in: room, as: eve)
            // Three members have received it.
            let ids = try await Psql.run(
                """
                update members set delivered_seq = 2, delivered_at = now() where user_id in (
                    select user_id from members where thread_id = '\(room)' and user_id <> '\(eve.id)'
                    order by user_id offset 100 limit 3) returning user_id
                """, conninfo: database)
            let connection = Connection(node.address)
            var (found, pageCount, page): ([String], Int, String) = ([], 0, "")
            while pageCount < 20 {
                let path = "/v1/threads/\(room)/messages/\(message)/receipts?limit=2\(page)"
                let answer = try await connection.get(path, as: eve)
                try #require(answer.status == 200, "\(answer)")
                found += answer.json["receipts"].items.compactMap { $0["user"]["id"].string }
                pageCount += 1
                guard let next = answer.json["next"].string else { break }
                page = "&page=\(next)"
            }
            #expect(found.sorted() == ids.split(separator: "\n").map { String($0) }.sorted())
            #expect((2...7).contains(pageCount))
            try await node.stop()
        }

        /// Stores 300 messages of the maximum length, each with the searched word, in a group of `person`.
        private func longMessages(_ node: Node, by person: Person) async throws -> String {
            let thread = try await node.client.thread("group", by: person, with: [])
            let letters = Array("abcdefghijklmnop")
            let words = letters.flatMap { a in letters.flatMap { b in letters.map { c in "\(c)\(b)\(a)" } } }
                .joined(separator: " ")
            let body: JSON = ["payload": ["text": .string(words)]]
            let connection = Connection(node.address)
            for _ in 0..<300 {
                let sent = try await connection.post("/v1/threads/\(thread)/messages", body, as: person)
                try #require(sent.status == 201, "\(sent)")
            }
            return thread
        }

        @Test("searches of one account delay another account's by one search at most, and pages are bounded")
        func searches() async throws {
            let node = try await Node.start(database: try await TestCluster.shared().createDatabase())
            var others = try await OtherUsers.join(node)
            let eve = try await node.client.register("Eve")
            _ = try await longMessages(node, by: eve)
            others.act = { others, connection in
                try await connection.get("/v1/search?q=hello", as: others.sender).status == 200
            }
            _ = try await node.client.sent("Hello", in: others.thread, as: others.sender)
            let notice = try await others.notice(connectionCount: 8) { connection, _ in
                let answer = try await connection.get("/v1/search?q=a&limit=200", as: eve)
                // From the third on searches wait in a queue, which is short.
                #expect(answer.status == 200 || (answer.status == 429 && answer.headers["retry-after"] != nil))
                if answer.status == 429 { try await Task.sleep(for: .milliseconds(100)) }
            }
            notice.expect("searches of long messages", ratioMax: 100)

            let connection = Connection(node.address)
            var (seqs, page): ([Int], String) = ([], "")
            for _ in 0..<300 {
                let answer = try await connection.get("/v1/search?q=a&limit=200" + page, as: eve)
                try #require(answer.status == 200, "\(answer)")
                #expect(answer.body.count < Self.pageByteCountMax)
                seqs += answer.json["results"].items.compactMap { $0["message"]["seq"].int }
                guard let next = answer.json["next"].string else { break }
                page = "&page=\(next)"
            }
            #expect(seqs.sorted() == Array(1...300) && Set(seqs).count == 300)
            try await node.stop()
        }

        @Test("a page of the inbox ends before 1 MiB, and the next page continues")
        func inbox() async throws {
            let client = try await TestNodes.shared().a.client
            let ann = try await client.register("Ann")
            let connection = Connection(client.address)
            let body: JSON = ["type": "x-blob", "payload": ["data": .string(String(repeating: "x", count: 60_000))]]
            var threads: [String] = []
            for _ in 0..<40 {
                let thread = try await connection.thread("group", by: ann, with: [])
                #expect(try await connection.post("/v1/threads/\(thread)/messages", body, as: ann).status == 201)
                threads.insert(thread, at: 0)
            }
            var (found, sizes, page): ([String?], [Int], String) = ([], [], "")
            for _ in 0..<10 {
                let answer = try await connection.get("/v1/inbox?limit=200" + page, as: ann)
                try #require(answer.status == 200, "\(answer)")
                sizes.append(answer.body.count)
                found += answer.json["threads"].items.map { $0["id"].string }
                guard let next = answer.json["next"].string else { break }
                page = "&page=\(next)"
            }
            #expect(found == threads)
            #expect(sizes.count == 3 && sizes.allSatisfy { $0 < Self.pageByteCountMax }, "\(sizes)")
        }
    }
}
