// Signed links and cookies as texts, without a server.
import Cryptography
import Domain
import Testing

@testable import API

@Suite("A signed text", .timeLimit(.minutes(1)))
struct SigningLinks {
    private let signer = AccessSigner(key: RandomBytes.make(count: 32))
    private let caller = Identity(user: .make(), session: .make())
    private let target = LinkTarget(attachment: .make(), variant: .original)

    @Test("opens what it was made for, until it ends")
    func opens() {
        let link = signer.link(to: target, for: caller, endMs: 1_000)
        #expect(signer.open(link: link, to: target, nowMs: 999) == caller)
        #expect(signer.open(link: link, to: target, nowMs: 1_000) == nil)
        #expect(signer.open(cookie: signer.cookie(for: caller)) == caller)
    }

    @Test("opens nothing else: another file or variant, another key, or a cookie for a link")
    func others() {
        let link = signer.link(to: target, for: caller, endMs: 1_000)
        #expect(signer.open(link: link, to: .init(attachment: .make(), variant: .original), nowMs: 0) == nil)
        #expect(
            signer.open(link: link, to: .init(attachment: target.attachment, variant: .thumbnail), nowMs: 0) == nil)
        #expect(AccessSigner(key: RandomBytes.make(count: 32)).open(link: link, to: target, nowMs: 0) == nil)
        #expect(signer.open(cookie: link) == nil)
        #expect(signer.open(link: signer.cookie(for: caller), to: target, nowMs: 0) == nil)
    }

    @Test("opens nothing after any change of a character")
    func edited() {
        for (text, opens) in [
            (
                signer.link(to: target, for: caller, endMs: 1_000),
                { signer.open(link: $0, to: target, nowMs: 0) != nil }
            ),
            (signer.cookie(for: caller), { signer.open(cookie: $0) != nil }),
        ] as [(String, (String) -> Bool)] {
            #expect(opens(text))
            let characters = Array(text)
            for index in characters.indices {
                for other in ["A", "B", "-"] where String(characters[index]) != other {
                    #expect(!opens(String(characters[..<index]) + other + String(characters[(index + 1)...])))
                }
                #expect(!opens(String(characters[..<index])))
            }
            #expect(!opens(text + "A") && !opens(text + "=") && !opens(""))
        }
    }

    private func request(_ text: String) throws -> LinkRequest {
        var fields = try Fields(JSONReader.read(Array(text.utf8)))
        return try LinkRequest(&fields)
    }

    @Test("ends at a quarter of its time, never later than asked")
    func rounding() throws {
        let hour = try request("{}")
        #expect(hour.seconds == 3_600 && hour.variant == .original)
        let now: Int64 = 1_800_000_123_456
        for later in [0, 1_000, 600_000] as [Int64] {
            let end = hour.endMs(nowMs: now + later)
            #expect(end % 900_000 == 0 && end > now + later + 2_700_000 && end <= now + later + 3_600_000)
        }
        #expect(hour.endMs(nowMs: now) == hour.endMs(nowMs: now + 1_000))
        #expect(try request(#"{"seconds":5}"#).endMs(nowMs: now) == now + 5_000)
        #expect(try request(#"{"variant":"thumbnail","seconds":86400}"#).variant == .thumbnail)
        for body in [
            #"{"seconds":0}"#, #"{"seconds":86401}"#, #"{"seconds":1.5}"#, #"{"variant":"cleaned"}"#, #"{"x":1}"#,
        ] {
            #expect(throws: Invalid.self) { try request(body) }
        }
    }

    @Test("goes to plain HTTP on a loopback host only without Secure")
    func loopback() {
        for host in [
            "localhost", "localhost:8080", "a.localhost", "127.0.0.1:1", "127.1.2.3", "[::1]:8080", "LOCALHOST",
        ] {
            #expect(PublicOrigin(isSecure: false, host: host).isPlainLoopback, "\(host)")
            #expect(!PublicOrigin(isSecure: true, host: host).isPlainLoopback, "\(host)")
        }
        for host in ["chat.example", "127.0.0.1.example", "localhost.example", "10.0.0.1", "[::2]", "128.0.0.1"] {
            #expect(!PublicOrigin(isSecure: false, host: host).isPlainLoopback, "\(host)")
        }
        #expect("\(PublicOrigin(isSecure: true, host: "a:1"))" == "https://a:1")
    }
}
