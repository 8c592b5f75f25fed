// Made-up session tokens and addresses of hooks: counted by client address.
import Basics
import Credentials
import Domain
import Telemetry
import TestSupport
import Testing
import Transport

@testable import API

@Suite("Unknown tokens", .timeLimit(.minutes(1)))
struct UnknownTokens {
    @Test("are not looked up any more once an address has sent too many, while others are not affected")
    func bound() async throws {
        var quotas = RateQuotas()
        quotas[.unknownTokensFromAddress] = 3
        let rates = RateLimits(
            isOn: true, quotas: quotas, proxies: TrustedProxies(), store: try await TestNode.shared().store)
        let lookUps = Tally()
        func lookUp(_ address: String, finds: Bool = false) async throws -> Bool {
            let found: Int? = try await rates.lookUp(.hook, from: IPAddress(parsing: address)) {
                lookUps.add()
                return finds ? 1 : nil
            }
            return found != nil
        }
        for _ in 0..<50 { #expect(try await lookUp("192.0.2.1", finds: true)) }
        for _ in 0..<3 { #expect(try await !lookUp("192.0.2.1")) }
        let problem = await #expect(throws: Problem.self) { try await lookUp("192.0.2.1", finds: true) }
        #expect(problem?.code == .rateLimited && problem?.limit?.name == "address-unknown-tokens")
        #expect(lookUps.value == 53)
        #expect(try await !lookUp("192.0.2.2"))
        var text = MetricsText()
        rates.write(to: &text)
        #expect(text.text.contains("parley_unknown_tokens_total{kind=\"hook\"} 4\n"))
    }

    @Test("of sessions and hooks are answered 429 in the end; known sessions continue")
    func overHTTP() async throws {
        let node = try await TestNode { settings in
            settings.rateLimitsEnabled = true
            settings.rateQuotas[.unknownTokensFromAddress] = 6
        }
        let ann = try await Person.make("Ann", port: node.port)
        #expect(try await ann.client.get("/v1/users/me").status == 200)
        let hook = "/v1/hooks/\(HookToken.random().text)"
        let stranger = Client(port: node.port, token: SessionToken.random().text)
        for _ in 0..<2 {
            #expect(try await Client(port: node.port).post(hook, #"{"text":"x"}"#).status == 404)
            #expect(try await stranger.get("/v1/users/me").status == 401)
            #expect(try await stranger.get("/v1/sync").status == 401)
        }
        #expect(try await Client(port: node.port).post(hook, #"{"text":"x"}"#).status == 429)
        for path in ["/v1/users/me", "/v1/sync", "/v1/attachments/\(newAttachment())"] {
            let refused = try await stranger.get(path)
            #expect(refused.status == 429 && refused.problemCode == "rate_limited", "\(path): \(refused.text)")
        }
        #expect(try await ann.client.get("/v1/users/me").status == 200)
    }
}
