// Requests to Google, and how the service account obtains its token.
import Cryptography
import Domain
import Foundation
import Outbound
import TestSupport
import Testing

@testable import Push

@Suite("Asking FCM", .timeLimit(.minutes(1)))
struct AskingFCM {
    private func fcm(url: String? = nil) throws -> FCM { try FCM(account: testAccount(), url: url) }

    @Test("sends all of a message, to be replaced by the next message of its thread")
    func message() throws {
        let message = PushMessage.make("Hello", in: "Team")
        let request = try fcm().request(.make(.android, message), providerToken: .test, now: PushAlert.now)
        #expect(request.url == "https://fcm.googleapis.com/v1/projects/my-project/messages:send")
        #expect(
            request.header == [
                "authorization": "Bearer t.o.k", "content-type": "application/json; charset=utf-8",
            ])
        let expected = try json(
            """
            {"message":{"token":"a:b_c-d","data":{"event":"message","thread_id":"\(message.thread)",\
            "message_id":"\(message.message)","seq":"7","badge":"3"},\
            "notification":{"title":"Team","body":"Ann: Hello"},\
            "android":{"collapse_key":"\(message.thread)","ttl":"86400s","priority":"high",\
            "notification":{"tag":"\(message.thread)","notification_count":3}}}}
            """)
        #expect(request.json == expected)
    }

    @Test("sends a count without a text")
    func badge() throws {
        let thread = ThreadID.make()
        let alert = PushAlert.make(.android, .badge(thread: thread, readUpTo: Seq(9)))
        let request = try fcm(url: "https://127.0.0.1:9").request(alert, providerToken: .test, now: PushAlert.now)
        #expect(request.url == "https://127.0.0.1:9/v1/projects/my-project/messages:send")
        let expected = try json(
            """
            {"message":{"token":"a:b_c-d","data":{"event":"read","thread_id":"\(thread)","read_up_to":"9",\
            "badge":"3"},"android":{"collapse_key":"\(thread)","ttl":"86400s","priority":"normal"}}}
            """)
        #expect(request.json == expected)
    }

    @Test("never sends more than 4,096 bytes or a negative time to live")
    func limits() throws {
        let message = PushMessage.make(String(repeating: "\"ä", count: 30_000))
        let late = PushAlert.now + 100_000
        let request = try fcm().request(.make(.android, message), providerToken: .test, now: late)
        #expect(request.body.count <= 4_096)
        #expect(request.body.count > 4_090)
        #expect(request.json?["message"]?["android"]?["ttl"] == .string("0s"))
        // No real token is that long, but a client may register one.
        let longest = PushAlert.make(.fcm(token: String(repeating: "t", count: 4_096)), message)
        #expect(try fcm().request(longest, providerToken: .test, now: late).body.count == 4_096 + 3_072)
    }

    @Test("asks for a token with an assertion that Google can check")
    func asking() throws {
        let request = try fcm().tokenRequest(now: PushAlert.now)
        #expect(request.url == "https://oauth.example/token")
        #expect(request.header == ["content-type": "application/x-www-form-urlencoded"])
        let form = String(decoding: request.body, as: UTF8.self)
        let start = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
        #expect(form.hasPrefix(start))
        let assertion = String(form.dropFirst(start.count))
        let (header, claims) = try parts(assertion)
        #expect(try header == json(#"{"alg":"RS256","typ":"JWT","kid":"k1"}"#))
        let expected = try json(
            """
            {"iss":"push@my-project.iam.example","scope":"https://www.googleapis.com/auth/firebase.messaging",\
            "aud":"https://oauth.example/token","iat":\(PushAlert.now),"exp":\(PushAlert.now + 3_600)}
            """)
        #expect(claims == expected)
        let key = try #require(RSA.PrivateKey(pem: HostApp.rsaTestKey)).publicKey
        #expect(try isSigned(assertion, by: key.isValid))
    }

    @Test("accepts Google's token, and reports why there is none")
    func answers() throws {
        let fcm = try fcm()
        func verdict(_ status: Int, _ body: String = "", _ headers: [String: String] = [:]) -> ProviderTokenVerdict {
            fcm.tokenVerdict(
                .success(TransferAnswer(status: status, headers: headers, body: Array(body.utf8))), now: 1_000)
        }
        #expect(
            verdict(200, #"{"access_token":"ya29.x","expires_in":3599,"token_type":"Bearer"}"#)
                == .token(ProviderToken(text: "ya29.x", renewAt: 1_000 + 3_599 - 600)))
        #expect(
            verdict(200, #"{"access_token":"x","expires_in":60}"#)
                == .token(ProviderToken(text: "x", renewAt: 1_030)))
        #expect(
            verdict(200, #"{"access_token":"x","expires_in":9223372036854775807}"#)
                == .token(ProviderToken(text: "x", renewAt: 1_000 + 86_400 - 600)))
        for body in [
            "", "{}", #"{"access_token":"x"}"#, #"{"access_token":"a\r\nb: c","expires_in":60}"#,
            #"{"access_token":"","expires_in":60}"#, #"{"access_token":"x","expires_in":-1}"#,
        ] {
            #expect(verdict(200, body) == .retry(after: nil, reason: "token_unreadable"), "\(body)")
        }
        #expect(verdict(503, "", ["retry-after": "7"]) == .retry(after: .seconds(7), reason: "token_unavailable"))
        #expect(verdict(400, #"{"error":"invalid_grant"}"#) == .halt(reason: "token_refused"))
        #expect(fcm.tokenVerdict(.failure(.timedOut), now: 0) == .retry(after: nil, reason: "token_connection"))
    }

    @Test(
        "rejects a file that is not a service account's",
        arguments: ["project_id", "client_email", "token_uri", "private_key"])
    func accounts(_ name: String) throws {
        for value in [nil, "", name == "project_id" ? "../x" : nil, name == "private_key" ? "key" : nil] {
            #expect(throws: PushKeyUnreadable.self) { try FCM(account: testAccount([name: value]), url: nil) }
        }
        #expect(throws: PushKeyUnreadable(description: "is not JSON")) { try FCM(account: [], url: nil) }
    }
}
