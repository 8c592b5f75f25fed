// Request metrics: by operation and status class, never by content.
import TestSupport
import Testing

@Suite("Request metrics", .serialized, .timeLimit(.minutes(1)))
struct CountingRequests {
    private struct Figures {
        let page: PrometheusPage

        init() async throws { page = try PrometheusPage(try await Client().get("/metrics").text) }

        func count(_ operation: String, _ status: String) -> Double {
            value("parley_http_requests_total", "parley_http_requests_total", operation, status)
        }

        func timed(_ operation: String, _ status: String) -> Double {
            value("parley_http_request_seconds", "parley_http_request_seconds_count", operation, status)
        }

        private func value(_ family: String, _ name: String, _ operation: String, _ status: String) -> Double {
            page.families[family]?.samples.first {
                $0.name == name && $0.labels == ["operation": operation, "status": status]
            }?.value ?? 0
        }
    }

    @Test("count by operation and status class, however the request is answered")
    func counts() async throws {
        let before = try await Figures()
        let ann = try await Person.make("Ann")
        #expect(try await ann.client.get("/v1/users/me").status == 200)
        #expect(try await ann.client.send("HEAD", "/v1/users/me").status == 200)
        #expect(try await Client().get("/v1/users/me").status == 401)
        #expect(try await Client().send("PUT", "/v1/inbox").status == 405)
        #expect(try await Client().get("/v1/sync").status == 401)
        let after = try await Figures()
        // Other suites may make the same request meanwhile.
        #expect(after.count("register", "2xx") >= before.count("register", "2xx") + 1)
        #expect(after.count("getOwnAccount", "2xx") >= before.count("getOwnAccount", "2xx") + 2)
        #expect(after.timed("getOwnAccount", "2xx") >= before.timed("getOwnAccount", "2xx") + 2)
        #expect(after.count("getOwnAccount", "4xx") >= before.count("getOwnAccount", "4xx") + 1)
        #expect(after.count("none", "4xx") >= before.count("none", "4xx") + 1)
        #expect(after.count("sync", "4xx") >= before.count("sync", "4xx") + 1)
    }

    @Test("time requests, except polls that waited")
    func polls() async throws {
        let ann = try await Person.make("Ann")
        let cursor = try await ann.client.get("/v1/sync").string("cursor")
        let before = try await Figures()
        #expect(try await ann.client.get("/v1/sync?wait=0&cursor=\(cursor)").status == 200)
        #expect(try await ann.client.get("/v1/sync?wait=1&cursor=\(cursor)").status == 200)
        let after = try await Figures()
        let (counted, timed) = (
            after.count("sync", "2xx") - before.count("sync", "2xx"),
            after.timed("sync", "2xx") - before.timed("sync", "2xx")
        )
        #expect(counted >= 2)
        #expect(timed >= 1 && timed < counted)
    }

    @Test("have a unique request id in every answer")
    func numbers() async throws {
        let client = try await Client()
        var numbers: Set<String> = []
        for path in ["/health/live", "/v1/users/me", "/v1/sync", "/nowhere"] {
            let number = try #require(try await client.get(path).headers["x-request-id"])
            #expect(number.wholeMatch(of: /[0-9a-f]{16}/) != nil)
            numbers.insert(number)
        }
        #expect(numbers.count == 4)
    }
}
