// An HTTP client for tests: one connection for each request, sent and received byte for byte.
import Domain
import NIOCore
import NIOPosix
import TestSupport
import Testing

/// An answer as a client sees it.
struct Reply: Sendable {
    var status: Int
    /// Names in lower case.
    var headers: [String: String]
    var body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSONValue? { try? JSONReader.read(body, .init(depthMax: 64)) }

    /// A value inside the body: `user.id`, `threads.0.head`.
    subscript(path: String) -> JSONValue? {
        path.split(separator: ".").reduce(json) { value, step in
            Int(step).flatMap { index in value?.array.flatMap { $0.indices.contains(index) ? $0[index] : nil } }
                ?? value?[String(step)]
        }
    }

    func string(_ path: String) throws -> String { try #require(self[path]?.string, "\(path) in \(text)") }
    func integer(_ path: String) throws -> Int64 { try #require(self[path]?.integer, "\(path) in \(text)") }

    /// `code` of a problem document; nil if the body is not a complete problem document.
    var problemCode: String? {
        guard headers["content-type"] == "application/problem+json", let code = self["code"]?.string,
            self["status"]?.integer == Int64(status), self["type"]?.string == "urn:parley:problem:\(code)",
            self["title"]?.string?.isEmpty == false, self["detail"]?.string?.isEmpty == false
        else { return nil }
        return code
    }

    var errorFields: [String] { self["errors"]?.array?.compactMap { $0["field"]?.string } ?? [] }
}

struct Client: Sendable {
    let port: Int
    var token: String?

    init(token: String? = nil) async throws {
        port = try await TestNode.shared().port
        self.token = token
    }

    /// A client of another node than the shared one.
    init(port: Int, token: String? = nil) {
        self.port = port
        self.token = token
    }

    func get(_ path: String) async throws -> Reply { try await send("GET", path) }
    func delete(_ path: String) async throws -> Reply { try await send("DELETE", path) }
    func post(_ path: String, _ body: String = "") async throws -> Reply { try await send("POST", path, body: body) }
    func put(_ path: String, _ body: String = "") async throws -> Reply { try await send("PUT", path, body: body) }
    func patch(_ path: String, _ body: String) async throws -> Reply { try await send("PATCH", path, body: body) }

    func send(
        _ method: String, _ path: String, body: String? = nil, type: String? = "application/json",
        headers: [String] = []
    ) async throws -> Reply {
        try await send(method, path, bytes: body.map { Array($0.utf8) }, type: type, headers: headers)
    }

    func send(
        _ method: String, _ path: String, bytes: [UInt8]?, type: String? = "application/json", headers: [String] = []
    ) async throws -> Reply {
        let host = headers.contains { $0.hasPrefix("Host:") } ? [] : ["Host: localhost"]
        var lines = ["\(method) \(path) HTTP/1.1"] + host + ["Connection: close"] + headers
        if let token { lines.append("Authorization: Bearer \(token)") }
        if let bytes {
            lines.append("Content-Length: \(bytes.count)")
            if let type { lines.append("Content-Type: \(type)") }
        }
        var request = ByteBuffer(string: lines.joined(separator: "\r\n") + "\r\n\r\n")
        request.writeBytes(bytes ?? [])
        let reply = try await exchange(request)
        let mistakes = try Description.shared.get().mistakes(method: method, path: path, reply: reply)
        #expect(mistakes.isEmpty, "\(method) \(path) \(reply.status) is not as described: \(reply.text)")
        return reply
    }

    /// Sends a request and closes the connection, without waiting for an answer.
    func abandon(_ request: ByteBuffer) async throws {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port).get()
        try await channel.writeAndFlush(request)
        try await channel.close()
    }

    /// - Parameter rest: returns more bytes to send, after whatever must happen first.
    func exchange(_ request: ByteBuffer, rest: () async throws -> ByteBuffer? = { nil }) async throws -> Reply {
        let collected = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: [UInt8].self)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(done: collected))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        let timeout = channel.eventLoop.scheduleTask(in: .seconds(60)) {
            collected.fail(ChannelError.connectTimeout(.seconds(60)))
        }
        defer { timeout.cancel() }
        channel.writeAndFlush(request, promise: nil)
        if let rest = try await rest() { channel.writeAndFlush(rest, promise: nil) }
        return try Self.parse(try await collected.futureResult.get())
    }

    private static func parse(_ bytes: [UInt8]) throws -> Reply {
        let end = try #require(bytes.firstRange(of: Array("\r\n\r\n".utf8)), "no answer")
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let status = try #require(lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) })
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        return Reply(status: status, headers: headers, body: Array(bytes[end.upperBound...]))
    }
}

private final class Collector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let done: EventLoopPromise<[UInt8]>
    private var bytes: [UInt8] = []

    init(done: EventLoopPromise<[UInt8]>) { self.done = done }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        bytes.append(contentsOf: unwrapInboundIn(data).readableBytesView)
    }

    func channelInactive(context: ChannelHandlerContext) { done.succeed(bytes) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { done.fail(error) }
}

/// A signed-in person with an account.
struct Person: Sendable {
    let client: Client
    let id: String
    let username: String

    /// - Parameters:
    ///   - name: the display name; the username is new each time.
    ///   - port: of another node than the shared one.
    static func make(_ name: String = "Somebody", prefix: String = "u", port: Int? = nil) async throws -> Person {
        let port = if let port { port } else { try await TestNode.shared().port }
        let username = "\(prefix).\(UserID.make().description.suffix(12))"
        let reply = try await Client(port: port).post(
            "/v1/auth/register", #"{"username":"\#(username)","password":"long enough","name":"\#(name)"}"#)
        #expect(reply.status == 201, "\(reply.text)")
        return Person(
            client: Client(port: port, token: try reply.string("session.token")), id: try reply.string("user.id"),
            username: username)
    }

    /// Opens a group and returns its id.
    func group(with others: [Person] = [], title: String = "Group") async throws -> String {
        let members = others.map { "\"\($0.id)\"" }.joined(separator: ",")
        let reply = try await client.post(
            "/v1/threads", #"{"kind":"group","title":"\#(title)","members":[\#(members)]}"#)
        #expect(reply.status == 201, "\(reply.text)")
        return try reply.string("id")
    }

    /// Opens the direct thread with a person and returns its id.
    func direct(with other: Person) async throws -> String {
        let reply = try await client.post("/v1/threads", #"{"kind":"direct","members":["\#(other.id)"]}"#)
        #expect(reply.status == 201 || reply.status == 200, "\(reply.text)")
        return try reply.string("id")
    }

    /// Adds `count` new people to a thread of this person, directly in the database.
    func fill(_ thread: String, count: Int, status: String) async throws {
        _ = try await Psql.run(
            """
            with made as (
                insert into users (id, name, created_at) select gen_random_uuid(), 'n', now() from generate_series(1, \(count))
                returning id
            ), put as (
                insert into members (thread_id, user_id, role, status, joined_at)
                select '\(thread)', m.id, 'member', '\(status)', now() from made m
            )
            update threads set member_count = member_count + case '\(status)' when 'joined' then \(count) else 0 end
            where id = '\(thread)';
            """, conninfo: TestNode.shared().database)
    }

    /// Sends a text and returns the message.
    @discardableResult
    func say(_ text: String, in thread: String) async throws -> Reply {
        let reply = try await client.post("/v1/threads/\(thread)/messages", #"{"payload":{"text":"\#(text)"}}"#)
        #expect(reply.status == 201, "\(reply.text)")
        return reply
    }

    /// The types of this person's events since a cursor.
    func eventTypes(since cursor: String) async throws -> [String] {
        let reply = try await client.get("/v1/sync?cursor=\(cursor)&wait=0")
        return reply["events"]?.array?.compactMap { $0["type"]?.string } ?? []
    }
}

/// Signs in with each body, and expects the same answer to all.
func checkRefusedAlike(_ bodies: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws {
    var answers: Set<String> = []
    for body in bodies {
        let reply = try await Client().post("/v1/auth/login", body)
        #expect(reply.status == 401, sourceLocation: sourceLocation)
        #expect(reply.problemCode == "wrong_credentials", sourceLocation: sourceLocation)
        #expect(reply.headers["www-authenticate"] == "Bearer", sourceLocation: sourceLocation)
        answers.insert(reply.text)
    }
    #expect(answers.count == 1, sourceLocation: sourceLocation)
}

/// Makes a hundred things by `POST`, the next one in vain, reads their list in pages, and deletes them.
func checkBound(
    of all: String, _ name: String, by admin: Client, sourceLocation: SourceLocation = #_sourceLocation,
    body: (_ number: Int) -> String
) async throws {
    var ids: [String] = []
    while ids.count <= 100 {
        let made = try await admin.post(all, body(ids.count))
        guard made.status == 201 else {
            #expect(made.problemCode == "too_many_\(name)" && made.status == 422, sourceLocation: sourceLocation)
            break
        }
        ids.append(try made.string("id"))
    }
    #expect(ids.count == 100, sourceLocation: sourceLocation)
    let first = try await admin.get(all + "?limit=60")
    #expect(first[name]?.array?.count == 60, sourceLocation: sourceLocation)
    let second = try await admin.get(all + "?limit=60&page=\(first.string("next"))")
    #expect(second[name]?.array?.count == 40 && second["next"] == nil, sourceLocation: sourceLocation)
    for id in ids { #expect(try await admin.delete("\(all)/\(id)").status == 204, sourceLocation: sourceLocation) }
}
