// CORS: preflights, and the answers that a page of another origin may read.
import API
import Domain
import Testing

@Suite("A page of another origin", .timeLimit(.minutes(1)))
struct PagesOfOtherOrigins {
    private static let origin = "Origin: \(TestNode.origin)"
    private static let asks = "Access-Control-Request-Method: PUT"

    @Test("gets its preflight answered without a token, for every path")
    func preflight() async throws {
        let routes = try await TestNode.shared().routes
        let client = try await Client()
        for (pattern, routes) in Dictionary(grouping: routes, by: \.pattern) {
            let path = pattern.split(separator: "/").map { $0.first == "{" ? "x" : $0 }.joined(separator: "/")
            let reply = try await client.send("OPTIONS", "/" + path, headers: [Self.origin, Self.asks])
            #expect(reply.status == 204 && reply.body.isEmpty, "\(path): \(reply.text)")
            let methods = reply.headers["access-control-allow-methods"]?.split(separator: ", ").map { String($0) } ?? []
            #expect(Set(methods) == Set(routes.flatMap(\.methods).map(\.rawValue)), "\(path)")
            #expect(reply.headers["access-control-allow-origin"] == TestNode.origin)
            let headers = reply.headers["access-control-allow-headers"]?.lowercased().split(separator: ", ") ?? []
            #expect(Set(headers).isSuperset(of: ["authorization", "content-type", "prefer", "last-event-id"]))
            #expect(reply.headers["access-control-max-age"] == "7200")
        }
    }

    @Test("gets no CORS headers if its origin is not allowed, it does not ask, or the path is unknown")
    func refused() async throws {
        let client = try await Client()
        for headers in [[Self.asks], [Self.origin], ["Origin: https://evil.example", Self.asks]] {
            let reply = try await client.send("OPTIONS", "/v1/sync", headers: headers)
            #expect(reply.status == 405 && reply.problemCode == "method_not_allowed")
            #expect(reply.headers["allow"] == "GET, HEAD")
            #expect(reply.headers["access-control-allow-methods"] == nil)
        }
        let nothing = try await client.send("OPTIONS", "/v1/nothing", headers: [Self.origin, Self.asks])
        #expect(nothing.status == 404 && nothing.headers["access-control-allow-origin"] == TestNode.origin)
    }

    @Test("can read every kind of answer: routes, polls, sends, streams and refusals")
    func answers() async throws {
        let ann = try await Person.make("Ann")
        let thread = try await ann.group()
        let cursor = try await ann.client.get("/v1/sync").string("cursor")
        try await ann.say("hi", in: thread)
        let calls: [(String, String, String?, [String], Int)] = [
            ("GET", "/v1/inbox", nil, [], 200), ("GET", "/v1/sync?cursor=\(cursor)", nil, [], 200),
            ("HEAD", "/v1/sync?cursor=\(cursor)", nil, ["Accept: text/event-stream"], 200),
            ("GET", "/v1/sync?cursor=x", nil, [], 422), ("GET", "/v1/nothing", nil, [], 404),
            ("POST", "/v1/threads/\(thread)/messages", #"{"payload":{"text":"hi"}}"#, [], 201),
            ("POST", "/v1/threads/\(thread)/messages", #"{"payload":{"text":1}}"#, [], 422),
            ("PUT", "/v1/threads/\(thread)/receipts", #"{"read":1}"#, [], 204),
        ]
        for (method, path, body, headers, status) in calls {
            let reply = try await ann.client.send(method, path, body: body, headers: headers + [Self.origin])
            #expect(reply.status == status, "\(method) \(path): \(reply.text)")
            #expect(reply.headers["access-control-allow-origin"] == TestNode.origin, "\(method) \(path)")
            #expect(reply.headers["vary"] == "Origin")
        }
    }
}
