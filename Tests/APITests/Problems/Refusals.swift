// Bad requests of every kind get a problem document, and none gets a 500.
import API
import Domain
import Testing

@Suite("Refusals", .timeLimit(.minutes(1)))
struct Refusals {
    @Test("answer 405 with the allowed methods, for every path and method")
    func refusesMethods() async throws {
        let routes = try await TestNode.shared().routes
        let client = try await Client()
        let patterns = Dictionary(grouping: routes, by: \.pattern)
        for (pattern, routes) in patterns {
            let methods = Set(routes.flatMap(\.methods).map(\.rawValue))
            let path = pattern.split(separator: "/").map { $0.first == "{" ? "x" : $0 }.joined(separator: "/")
            for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"] where !methods.contains(method)
            {
                let reply = try await client.send(method, "/" + path)
                #expect(reply.status == 405, "\(method) \(path)")
                #expect(reply.problemCode == "method_not_allowed")
                let allowed = reply.headers["allow"]?.split(separator: ", ").map { String($0) } ?? []
                #expect(Set(allowed) == methods)
                #expect(allowed.count == methods.count)
            }
        }
    }

    @Test("answer HEAD like GET without the body, for the long poll without waiting")
    func answersHead() async throws {
        let client = try await Person.make().client
        for path in ["/v1/users/me", "/health/live", "/openapi.yaml", "/v1/inbox", "/nothing"] {
            let get = try await client.get(path)
            let head = try await client.send("HEAD", path)
            #expect(head.status == get.status)
            #expect(head.body.isEmpty)
            for headers in [get.headers, head.headers] {
                #expect(headers["x-content-type-options"] == "nosniff" && headers["referrer-policy"] == "no-referrer")
                #expect(headers["cache-control"] == "no-store")
                let isJSON = headers["content-type"]?.hasSuffix("json") == true
                #expect((headers["content-security-policy"] == nil) == isJSON, "\(path)")
            }
            // These headers differ for each request.
            let unlike = ["date", "x-request-id"]
            #expect(
                head.headers.filter { !unlike.contains($0.key) } == get.headers.filter { !unlike.contains($0.key) })
        }
        let sync = "/v1/sync?cursor=\(try await client.get("/v1/sync").string("cursor"))"
        let head = try await client.send("HEAD", sync)
        #expect(head.status == 200 && head.body.isEmpty)
        #expect(head.headers["content-length"] == (try await client.get(sync + "&wait=0").headers["content-length"]))
        let stream = try await client.send("HEAD", sync, headers: ["Accept: text/event-stream"])
        #expect(stream.status == 200 && stream.body.isEmpty && stream.headers["content-type"] == "text/event-stream")
        #expect(try await Client().send("HEAD", sync).status == 401)
    }

    @Test("answer HEAD for a body too large for one write")
    func answersLargeHead() async throws {
        let ann = try await Person.make()
        let path = "/v1/threads/\(try await ann.group())/messages"
        let text = String(repeating: "x", count: 16 * 1024)
        for _ in 0..<6 {
            #expect(try await ann.client.post(path, "{\"payload\":{\"text\":\"\(text)\"}}").status == 201)
        }
        let get = try await ann.client.get(path)
        #expect(get.body.count > 96 * 1024)
        #expect(get["messages"]?.array?.count == 6)
        let head = try await ann.client.send("HEAD", path)
        #expect(head.body.isEmpty)
        #expect(head.headers["content-length"] == String(get.body.count))
    }

    @Test("cover other content types than JSON, but not a missing one")
    func checksTypes() async throws {
        let client = try await Person.make().client
        for type in ["application/json", "Application/JSON; charset=utf-8", "application/merge-patch+json", nil] {
            let reply = try await client.send("PATCH", "/v1/users/me", body: #"{"name":"Ann"}"#, type: type)
            #expect(reply.status == 200, "\(type ?? "none")")
        }
        for type in ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonp", "text/json"] {
            let reply = try await client.send("PATCH", "/v1/users/me", body: #"{"name":"Ann"}"#, type: type)
            #expect(reply.status == 415)
            #expect(reply.problemCode == "unsupported_media_type")
        }
    }

    @Test("name the field of a character or number that can't be stored")
    func namesUnstorable() async throws {
        let ann = try await Person.make()
        let path = "/v1/threads/\(try await ann.group())/messages"
        for (body, field) in [
            (#"{"payload":{"text":"a\u0000b"}}"#, "payload.text"),
            (#"{"payload":{"text":"a","n":[1,1e400]}}"#, "payload.n[1]"),
            (#"{"payload":{"text":"a","n":\#(String(repeating: "9", count: 65))}}"#, "payload.n"),
        ] {
            let reply = try await ann.client.post(path, body)
            #expect(reply.status == 422)
            #expect(reply.errorFields == [field])
        }
        let deep = String(repeating: "[", count: 31) + String(repeating: "]", count: 31)
        #expect(try await ann.client.post(path, "{\"payload\":{\"text\":\"a\",\"x\":\(deep)}}").status == 400)
    }

    @Test("cover a body that is too large, whatever it contains")
    func refusesLargeBodies() async throws {
        let ann = try await Person.make()
        let messages = "/v1/threads/\(try await ann.group())/messages"
        for (method, path, byteCountMax) in [("PATCH", "/v1/users/me", 64 * 1024), ("POST", messages, 1024 * 1024)] {
            let reply = try await ann.client.send(method, path, body: String(repeating: " ", count: byteCountMax + 1))
            #expect(reply.status == 413)
            #expect(reply.problemCode == "body_too_large" && reply.text.contains("\(byteCountMax) bytes"))
            let legal = try await ann.client.send(method, path, body: String(repeating: " ", count: byteCountMax))
            #expect(legal.problemCode == "malformed_json")
        }
        let escaped = String(repeating: "\\u0041", count: 16 * 1024)
        #expect(try await ann.client.post(messages, "{\"payload\":{\"text\":\"\(escaped)\"}}").status == 201)
    }

    @Test("have varying Retry-After times, none too short")
    func spreadsRetries() {
        for code in [ProblemCode.overloaded, .unavailable] {
            let problem = Problem(code, "Not now.", retryAfterS: 4)
            let times = (0..<300).map { _ in ProblemDocument.response(problem).headers[.retryAfter] }
            #expect(Set(times) == ["4", "5", "6"])
        }
    }

    @Test("do not concern a body where none is expected: the body is ignored")
    func ignoresBodies() async throws {
        let client = try await Person.make().client
        #expect(try await client.send("GET", "/v1/users/me", body: "{").status == 200)
        #expect(try await client.send("POST", "/v1/auth/logout", body: "x", type: "text/plain").status == 204)
    }

    @Test("do not concern health, metrics and the OpenAPI document, which are open to anyone")
    func servesOperation() async throws {
        let client = try await Client()
        #expect(try await client.get("/health/live").string("status") == "live")
        #expect(try await client.get("/health/ready?probe=1").string("status") == "ready")
        #expect(try await client.get("/metrics").text.contains("# HELP parley_http_requests_total "))
        let description = try await client.get("/openapi.yaml")
        #expect(description.headers["content-type"] == "text/yaml; charset=utf-8")
        #expect(description.text == OpenAPI.text)
    }
}
