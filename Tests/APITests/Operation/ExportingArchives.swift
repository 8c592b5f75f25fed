// GET /v1/admin/export: who may call it, and what it answers.
import Domain
import TestSupport
import Testing

@Suite("Exporting archives", .timeLimit(.minutes(1)))
struct ExportingArchives {
    private static let path = "/v1/admin/export"

    private static func admin() async throws -> Client { try await Client(token: TestNode.adminToken) }

    @Test("is for administrators alone")
    func access() async throws {
        let ann = try await Person.make("Ann")
        #expect(try await Client().get(Self.path).problemCode == "unauthenticated")
        #expect(try await ann.client.get(Self.path).problemCode == "invalid_token")
    }

    @Test("refuses unknown subjects, times and parameters")
    func refusals() async throws {
        let admin = try await Self.admin()
        #expect(try await admin.get(Self.path + "?user=\(UserID.make())").problemCode == "user_not_found")
        #expect(try await admin.get(Self.path + "?thread=\(ThreadID.make())").problemCode == "thread_not_found")
        for (query, field) in [
            ("user=x", "user"), ("thread=x", "thread"), ("since=yesterday", "since"), ("until=1", "until"),
            ("since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", "until"), ("all=1", "all"),
        ] {
            let reply = try await admin.get("\(Self.path)?\(query)")
            #expect(reply.status == 422 && reply.errorFields == [field], "\(query): \(reply.text)")
        }
    }

    @Test("answers the lines of a thread, and records that")
    func ofAThread() async throws {
        let admin = try await Self.admin()
        let ann = try await Person.make("Ann")
        let thread = try await ann.client.post("/v1/threads", #"{"kind":"group","title":"T"}"#).string("id")
        let message = try await ann.say("hello", in: thread).string("id")
        let query = "?thread=\(thread)&since=2020-01-01T00:00:00Z"
        let reply = try await admin.get(Self.path + query)
        #expect(reply.status == 200 && reply.headers["content-type"] == "application/x-ndjson")
        let lines = try reply.unchunked.split(separator: UInt8(ascii: "\n")).map {
            try JSONReader.read(Array($0), .init(depthMax: 64))
        }
        let types = lines.compactMap { $0["type"]?.string }
        #expect(types.first == "archive" && types.last == "end" && types.contains("member"))
        #expect(lines[0]["data"]?["filter"]?["thread"]?.string == thread)
        #expect(lines.last?["data"]?["lines"]?.integer == Int64(lines.count - 1))
        let messages = lines.filter { $0["type"]?.string == "message" }.compactMap { $0["data"]?["id"]?.string }
        #expect(messages.contains(message))
        let entries = try await admin.get("/v1/admin/audit?limit=200")["entries"]?.array ?? []
        let exports = entries.filter { $0["thread_id"]?.string == thread }
        #expect(exports.map { $0["action"]?.string } == ["export"])
        #expect(exports.first?["subject"]?.string == "since 2020-01-01T00:00:00.000Z")
        #expect(try await admin.send("HEAD", Self.path + query).status == 200)
    }
}

extension Reply {
    /// A body that came in chunks, as one.
    fileprivate var unchunked: [UInt8] {
        guard headers["transfer-encoding"] == "chunked" else { return body }
        var (bytes, rest) = ([UInt8](), body[...])
        while let end = rest.firstIndex(of: UInt8(ascii: "\r")) {
            guard let count = Int(String(decoding: rest[rest.startIndex..<end], as: UTF8.self), radix: 16), count > 0
            else { break }
            let start = end + 2
            bytes += rest[start..<start + count]
            rest = rest[(start + count + 2)...]
        }
        return bytes
    }
}
