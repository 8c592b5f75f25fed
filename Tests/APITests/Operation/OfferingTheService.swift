// What the service offers, before sign-in.
import Domain
import ServiceConfiguration
import TestSupport
import Testing

@Suite("Offering the service", .timeLimit(.minutes(1)))
struct OfferingTheService {
    private func offer(of node: TestNode) async throws -> Reply { try await Client(port: node.port).get("/v1/service") }

    @Test("names the ways to sign in, mail, push and limits of a bare service, without a token")
    func bare() async throws {
        let node = try await TestNode {
            ($0.jwtKeysFile, $0.apnsKeyFile, $0.fcmAccountFile, $0.webPushSubject) = (nil, nil, nil, nil)
            $0.appName = "Book Club"
            $0.limits.textByteCountMax = 100
        }
        let reply = try await offer(of: node)
        #expect(reply.status == 200)
        #expect(reply.headers["cache-control"] == "public, max-age=60")
        #expect(
            reply.text == """
                {"name":"Book Club","version":"\(Invocation.version)","registration":"open","sign_in":["password"],\
                "mail":false,"push":{"apns":false,"fcm":false,"webpush":false},"edit_history":true,\
                "limits":{"text_bytes":100,"payload_bytes":65536,"attachment_bytes":52428800,\
                "attachments_per_message":10,"title_characters":128}}
                """)
        #expect(try await Client(port: node.port).get("/v1/service?x=1").errorFields == ["x"])
    }

    @Test("names codes by mail, tokens of the host app and platforms for alerts where they are configured")
    func configured() async throws {
        let node = try await TestNode {
            $0.mailServer = MailServer("smtp://127.0.0.1:1")
            $0.mailSender = MailSender("chat@example.org")
            ($0.apnsKeyFile, $0.fcmAccountFile) = (nil, nil)
            $0.webPushSubject = "mailto:push@example.org"
        }
        let reply = try await offer(of: node)
        #expect(reply["sign_in"]?.array?.compactMap(\.string) == ["password", "code", "token"])
        #expect(reply["mail"] == .bool(true))
        #expect(reply["push.webpush"] == .bool(true) && reply["push.apns"] == .bool(false))
    }
}
