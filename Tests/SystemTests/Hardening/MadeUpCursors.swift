// Pages and cursors that no answer has returned, and calls of strangers on a thread.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Invented cursors, pages and ids", .timeLimit(.minutes(2)))
    struct MadeUpCursors {
        /// A text in the service's own format: a version, big-endian fields and a check byte, as base64url.
        private static func opaque(version: UInt8, _ fields: [UInt8]) -> String {
            var bytes = [version] + fields
            bytes.append(bytes.reduce(0x5a) { ($0 << 1 | $0 >> 7) ^ $1 })
            return Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
        }

        private static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
            withUnsafeBytes(of: value.bigEndian) { Array($0) }
        }

        @Test("an invented page never makes a list fail")
        func pages() async throws {
            let client = try await TestNodes.shared().a.client
            let connection = Connection(client.address)
            let ann = try await client.register("Ann")
            let thread = try await client.thread("group", by: ann, with: [try await client.register("Ben")])
            let message = try await client.sent("hello", in: thread, as: ann)
            let lists = [
                "/v1/inbox?", "/v1/search?q=hello&", "/v1/search?q=hello&thread=\(thread)&", "/v1/rooms?",
                "/v1/users?query=ann&", "/v1/users/me/blocks?", "/v1/sessions?", "/v1/threads/\(thread)/members?",
                "/v1/threads/\(thread)/messages/\(message)/receipts?",
            ]
            let ranks: [Int64] = [.min, .min + 1, -1_000_000_000_000_000_000, -1, 1_000_000_000_000_000_000, .max]
            for list in lists {
                for rank in ranks {
                    for id in [UInt8.min, .max] {
                        let fields = Self.bytes(rank) + [UInt8](repeating: id, count: 16)
                        let page = Self.opaque(version: 2, fields)
                        let answer = try await connection.get("\(list)page=\(page)", as: ann)
                        #expect(answer.status == 200, "\(list), \(rank): \(answer)")
                    }
                }
            }
        }

        /// The cursor's epoch, with another position.
        private static func cursor(_ cursor: String, at position: Int64) throws -> String {
            let padded = cursor.replacing("-", with: "+").replacing("_", with: "/")
            let filling = String(repeating: "=", count: (4 - padded.count % 4) % 4)
            let bytes = try #require(Data(base64Encoded: padded + filling))
            return opaque(version: 1, Array(bytes[1..<5]) + Self.bytes(position))
        }

        @Test("a cursor from the future is expired for waiting polls, immediate polls and streams")
        func futureCursors() async throws {
            let client = try await TestNodes.shared().a.client
            let ann = try await client.register("Ann")
            let connection = Connection(client.address)
            let now = try await connection.cursor(of: ann)
            #expect(try await connection.sync(ann, from: now, wait: 0).status == 200)
            for position in [1 << 40, 1 << 62, Int64.max] {
                let future = try Self.cursor(now, at: position)
                for wait in [0, 5] {
                    let answer = try await connection.sync(ann, from: future, wait: wait)
                    #expect(answer.status == 410 && answer.code == "cursor_expired", "\(position): \(answer)")
                    let fresh = try #require(answer.json["cursor"].string)
                    #expect(try await connection.sync(ann, from: fresh, wait: 0).status == 200)
                }
                var request = Request("GET", "/v1/sync?cursor=\(future)")
                request.headers = [("Authorization", "Bearer \(ann.token)"), ("Accept", "text/event-stream")]
                #expect(try await Connection(client.address).open(request).status == 410)
            }
        }

        @Test("a cursor just returned by another node never counts as one from the future")
        func cursorsOfOtherNodes() async throws {
            let nodes = try await TestNodes.shared()
            let ann = try await nodes.a.client.register("Ann")
            let connections = nodes.addresses.map(Connection.init)
            let thread = try await connections[0].thread("group", by: ann, with: [])
            var cursors = [try await connections[0].cursor(of: ann), try await connections[1].cursor(of: ann)]
            for number in 0..<100 {
                let (here, there) = (number % 2, 1 - number % 2)
                _ = try await connections[here].sent("hello \(number)", in: thread, as: ann)
                let answer = try await connections[here].sync(ann, from: cursors[here], wait: 5)
                try #require(answer.status == 200, "\(answer)")
                let given = try #require(answer.json["cursor"].string)
                let other = try await connections[there].sync(ann, from: given, wait: 0)
                // The first answer may end before the newest message, which this one then tells.
                let texts = other.told.map { $0["data"]["payload"]["text"].string }
                try #require(
                    other.status == 200 && (texts.isEmpty || texts == ["hello \(number)"]), "\(number): \(other)")
                cursors[here] = given
            }
        }

        @Test("a stranger is refused while another transaction has the thread locked")
        func strangersDoNotWait() async throws {
            let nodes = try await TestNodes.shared()
            let client = nodes.a.client
            let (ann, eve) = (try await client.register("Ann"), try await client.register("Eve"))
            let thread = try await client.thread("group", by: ann, with: [])
            let message = try await client.sent("hello", in: thread, as: ann)
            async let holder = Psql.run(
                "begin; select from threads where id = '\(thread)' for update; \(Psql.sleep) commit;",
                conninfo: nodes.database)
            #expect(try await Psql.isAsleep(in: nodes.database))
            let messagePath = "/v1/threads/\(thread)/messages/\(message)"
            let payload: JSON = ["payload": ["text": "x"]]
            let calls: [(String, String, JSON?)] = [
                ("PUT", messagePath + "/reactions/%F0%9F%91%8D", nil),
                ("DELETE", messagePath + "/reactions/%F0%9F%91%8D", nil), ("PATCH", messagePath, payload),
                ("DELETE", messagePath, nil), ("PATCH", "/v1/threads/\(thread)", ["title": "Mine"]),
                ("PUT", "/v1/threads/\(thread)/members/me", ["status": "joined"]),
                ("PUT", "/v1/threads/\(thread)/members/\(eve.id)", [:]),
                ("DELETE", "/v1/threads/\(thread)/members/\(ann.id)", nil),
                ("DELETE", "/v1/threads/\(thread)/members/me", nil),
            ]
            // A call that waits for the lock gives up after 5 s, and is answered with 503.
            for (method, path, body) in calls {
                let answer = try await client.call(method, path, body, as: eve)
                #expect(answer.status == 404 && answer.code == "thread_not_found", "\(method) \(path): \(answer)")
            }
            #expect(try await Psql.isAsleep(in: nodes.database), "the thread is still locked")
            try await Psql.wake(in: nodes.database)
            _ = try await holder
        }
    }
}
