// Requests as Standard Webhooks has them. PyPI's standardwebhooks verifies the signatures.
import Domain
import Foundation
import Outbound
import TestSupport
import Testing
import Webhooks

@Suite("Signing requests to a webhook", .timeLimit(.minutes(1)))
struct SigningRequests {
    private static let thread = ThreadID.make()
    private static let user = UserID.make()

    private func message(_ data: String, isThin: Bool = false) -> WebhookMessage {
        WebhookMessage(
            id: "evt_0_7_42", type: "message.created", at: Timestamp(microsSince1970: 1_700_000_000_123_000),
            thread: Self.thread, actor: Self.user, data: JSONText(utf8: Array(data.utf8)), isThin: isThin)
    }

    private func exchange(_ message: WebhookMessage, _ secrets: [WebhookSecret], now: Int) -> HTTPExchange? {
        guard case .http(let exchange) = message.transfer(to: "https://a.example/x", secrets: secrets, now: now).work
        else { return nil }
        return exchange
    }

    @Test("sends the event with its type and time, and an id that never changes")
    func body() throws {
        let text = String(decoding: message(#"{"id":"x","payload":{"n":1e2}}"#).body, as: UTF8.self)
        #expect(
            text == #"{"type":"message.created","timestamp":"2023-11-14T22:13:20.123Z","thread_id":"\#(Self.thread)","#
                + #""actor":"\#(Self.user)","data":{"id":"x","payload":{"n":1e2}}}"#)
        let sent = try #require(exchange(message("{}"), [WebhookSecret(bytes: [1])], now: 12))
        let headers = Dictionary(uniqueKeysWithValues: sent.headers.map { ($0.name, $0.value) })
        #expect(headers["webhook-id"] == "evt_0_7_42" && headers["webhook-timestamp"] == "12")
        #expect(headers["content-type"] == "application/json")
    }

    @Test("sends ids only if it is thin")
    func thin() {
        let data = #"{"id":"x","thread_id":"t","seq":3,"sender":{"id":"y"},"payload":{"text":"secret"},"user_id":"u"}"#
        let text = String(decoding: message(data, isThin: true).body, as: UTF8.self)
        #expect(text.hasSuffix(#""data":{"id":"x","thread_id":"t","seq":3,"user_id":"u"}}"#))
    }

    @Test("shows a secret as whsec_ and padded Base64, and prints it nowhere else")
    func secrets() {
        let secret = WebhookSecret(bytes: Array(repeating: 255, count: 32))
        #expect(secret.text == "whsec_" + Data(secret.bytes).base64EncodedString())
        #expect(!"\(secret)\(String(reflecting: secret))".contains("255"))
    }

    @Test(
        "is verified by standardwebhooks, with either secret",
        .enabled(if: Tool.permits(WebhookSink.canVerify), "PyPI's standardwebhooks is not installed (.ci/deps test)"))
    func verified() throws {
        let secrets = [WebhookSecret(bytes: (0..<32).map { $0 }), WebhookSecret(bytes: (0..<32).map { 255 - $0 })]
        let now = Int(Date().timeIntervalSince1970)
        let sent = try #require(exchange(message(#"{"text":"Zoë 👍"}"#), secrets, now: now))
        let headers = Dictionary(uniqueKeysWithValues: sent.headers.map { ($0.name, $0.value) })
        for secret in secrets {
            #expect(try WebhookSink.verify(secret: secret.text, headers: headers, body: sent.body))
        }
        #expect(try !WebhookSink.verify(secret: secrets[0].text, headers: headers, body: sent.body + [32]))
        #expect(
            try !WebhookSink.verify(
                secret: WebhookSecret(bytes: Array(repeating: 1, count: 32)).text, headers: headers, body: sent.body))
    }
}
