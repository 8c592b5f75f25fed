// Push services at private addresses, on a node whose settings allow them.
import TestSupport
import Testing

@Suite("A push service at a private address", .timeLimit(.minutes(1)))
struct PrivatePushServices {
    @Test("may be registered where the settings allow one, and its key must still be right")
    func allowed() async throws {
        let node = try await TestNode { $0.pushAllowsPrivate = true }
        let ann = try await Person.make("Ann", port: node.port)
        func register(_ endpoint: String, key: String) async throws -> Reply {
            try await ann.client.put(
                "/v1/sessions/current/push",
                #"{"platform":"webpush","endpoint":"\#(endpoint)","keys":{"p256dh":"\#(key)","auth":"AAAAAAAAAAAAAAAAAAAAAA"}}"#
            )
        }
        let key = TestBrowser().keyText
        for endpoint in ["https://localhost/p", "http://127.0.0.1:8080/p", "https://[::1]/p"] {
            let reply = try await register(endpoint, key: key)
            #expect(reply.status == 200, "\(endpoint): \(reply.text)")
        }
        let offCurve = try await register("https://localhost/p", key: "BA" + String(repeating: "A", count: 85))
        #expect(offCurve.status == 422 && offCurve.errorFields == ["keys.p256dh"], "\(offCurve.text)")
    }
}
