// Which tokens the server accepts, and which it refuses.
import Basics
import Domain
import TestSupport
import Testing

@testable import DelegatedTokens

@Suite("Checking delegated tokens", .timeLimit(.minutes(1)))
struct CheckingTokens {
    static let now = 1_800_000_000.0
    static let claims = #"{"sub":"u1","exp":1800000600}"#

    private func keys(_ keys: String...) throws -> KeySet {
        try KeySet(Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8))
    }

    private func refusal(
        _ token: String, _ keys: KeySet, now: Double = now, expecting: DelegatedToken.Expectations = .init()
    ) -> DelegatedToken.Refusal? {
        do {
            _ = try DelegatedToken(token, keys: keys, expecting: expecting, now: now)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "accepts a token of each algorithm, whether its key names the algorithm or not",
        arguments: HostApp.Algorithm.allCases)
    func accepts(_ algorithm: HostApp.Algorithm) throws {
        let app = try HostApp(algorithm)
        let token = try app.token(Self.claims)
        for key in [app.key(), app.key([("alg", algorithm.rawValue), ("use", "sig"), ("kid", "k1")])] {
            let accepted = try DelegatedToken(token, keys: keys(key), expecting: .init(), now: Self.now)
            #expect(accepted.subject.text == "u1" && accepted.name == nil && accepted.picture == nil)
        }
    }

    @Test("refuses a token if any part of it was changed", arguments: HostApp.Algorithm.allCases)
    func refusesChanges(_ algorithm: HostApp.Algorithm) throws {
        let app = try HostApp(algorithm)
        let keys = try keys(app.key())
        let parts = try app.token(Self.claims).split(separator: ".")
        let others = try app.token(#"{"sub":"u2","exp":1800000600}"#).split(separator: ".")
        #expect(refusal("\(parts[0]).\(others[1]).\(parts[2])", keys) == .signature)
        #expect(refusal("\(parts[0]).\(parts[1]).", keys) == .signature)
        #expect(refusal("\(parts[0]).\(parts[1]).AAAA", keys) == .signature)
        #expect(refusal("\(parts[0]).\(parts[1])", keys) == .malformed)
        let head = Base64.urlSafe.encode(Array(#"{"alg":"\#(algorithm.rawValue)","typ":"jwt"}"#.utf8))
        #expect(refusal("\(head).\(parts[1]).\(parts[2])", keys) == .signature)
        #expect(refusal(try HostApp(.edDSA).token(Self.claims), keys) == .signature)
    }

    @Test("refuses a token without a signature, and one signed with another algorithm than that of its key")
    func refusesOtherAlgorithms() throws {
        let rsa = try HostApp(.rs256)
        let keys = try keys(rsa.key([("kid", "k1")]), HostApp(.es256).key())
        func unsigned(_ header: String) -> String {
            [header, Self.claims].map { Base64.urlSafe.encode(Array($0.utf8)) }.joined(separator: ".") + "."
        }
        for name in ["none", "None", "", "HS384", "RS512", "PS256", "es256"] {
            #expect(refusal(unsigned(#"{"alg":"\#(name)"}"#), keys) == .algorithm)
        }
        #expect(refusal(unsigned("{}"), keys) == .algorithm)
        #expect(refusal(unsigned(#"{"alg":"RS256"}"#), keys) == .signature)
        // The key is right, and the algorithm is another one.
        for name in ["HS256", "ES256", "EdDSA"] {
            let token = try rsa.token(Self.claims, header: #"{"alg":"\#(name)","kid":"k1"}"#)
            #expect(refusal(token, keys) == .signature)
        }
        let critical = try rsa.token(Self.claims, header: #"{"alg":"RS256","crit":["exp"]}"#)
        #expect(refusal(critical, keys) == .criticalHeader)
    }

    @Test("never accepts a public key as a shared secret, however it is written")
    func publicKeysAreNoSecrets() throws {
        // An attacker who knows the public key signs with its bytes and names HMAC as the algorithm.
        let rsa = try HostApp(.rs256)
        let modulus = try #require(rsa.jwk.first { $0.name == "n" }?.value)
        let forger = try VerificationKey(
            .object([.init("kty", .string("oct")), .init("k", .string(modulus))]))
        #expect(forger.algorithm == .hs256)
        let keys = try keys(rsa.key())
        #expect(keys.candidates(algorithm: .hs256, id: nil).isEmpty)
        #expect(throws: KeySet.Unreadable.self) { try self.keys(rsa.key([("alg", "HS256")])) }
    }

    @Test("tries the key that the token names, or all keys of its algorithm if it names none")
    func choosesKeys() throws {
        let old = try HostApp(.es256)
        let new = try HostApp(.es256)
        let keys = try keys(old.key([("kid", "old")]), new.key([("kid", "new")]))
        func token(_ app: HostApp, _ kid: String) throws -> String {
            try app.token(Self.claims, header: #"{"alg":"ES256"\#(kid)}"#)
        }
        #expect(refusal(try token(old, ""), keys) == nil)
        #expect(refusal(try token(new, ""), keys) == nil)
        #expect(refusal(try token(new, #","kid":"new""#), keys) == nil)
        #expect(refusal(try token(new, #","kid":"old""#), keys) == .signature)
        #expect(refusal(try token(new, #","kid":"third""#), keys) == .signature)
        #expect(refusal(try token(new, #","kid":1"#), keys) == .malformed)
        let nameless = try self.keys(new.key())
        #expect(refusal(try token(new, #","kid":"new""#), nameless) == nil)
    }

    @Test("requires a time of expiry, and allows clocks to be a minute apart")
    func checksTimes() throws {
        let app = try HostApp()
        let keys = try keys(app.key())
        func refusal(_ times: String) throws -> DelegatedToken.Refusal? {
            self.refusal(try app.token(#"{"sub":"u1"\#(times)}"#), keys)
        }
        #expect(try refusal("") == .expired)
        #expect(try refusal(#","exp":null"#) == .malformed)
        #expect(try refusal(#","exp":"1800000600""#) == .malformed)
        #expect(try refusal(#","exp":1799999939.5"#) == .expired)
        #expect(try refusal(#","exp":1799999940"#) == .expired)
        #expect(try refusal(#","exp":1799999940.5"#) == nil)
        #expect(try refusal(#","exp":1.8e9,"nbf":1800000060,"iat":1800000060"#) == nil)
        #expect(try refusal(#","exp":1.9e9,"nbf":1800000061"#) == .notYetValid)
        #expect(try refusal(#","exp":1.9e9,"iat":1800000061"#) == .notYetValid)
        #expect(try refusal(#","exp":1.9e9,"nbf":[]"#) == .malformed)
    }

    @Test("requires the configured issuer and audience")
    func checksIssuerAndAudience() throws {
        let app = try HostApp()
        let keys = try keys(app.key())
        func refusal(_ more: String, _ issuer: String?, _ audience: String?) throws -> DelegatedToken.Refusal? {
            self.refusal(
                try app.token(#"{"sub":"u1","exp":1800000600\#(more)}"#), keys,
                expecting: .init(issuer: issuer, audience: audience))
        }
        #expect(try refusal(#","iss":"a","aud":"b""#, nil, nil) == nil)
        #expect(try refusal(#","iss":"a","aud":"b""#, "a", "b") == nil)
        #expect(try refusal(#","iss":"a","aud":["c","b"]"#, "a", "b") == nil)
        #expect(try refusal(#","iss":"a/","aud":"b""#, "a", nil) == .issuer)
        #expect(try refusal("", "a", nil) == .issuer)
        for audience in [#","aud":"bb""#, #","aud":["c"]"#, #","aud":[["b"]]"#, #","aud":{"b":"b"}"#, ""] {
            #expect(try refusal(audience, nil, "b") == .audience)
        }
    }

    @Test(
        "requires a subject that can be an account's external id",
        arguments: [
            #""""#, "null", "7", #"["u1"]"#, #""a\nb""#, "\"\(String(repeating: "u", count: 256))\"",
        ])
    func checksSubjects(_ subject: String) throws {
        let app = try HostApp()
        let token = try app.token(#"{"sub":\#(subject),"exp":1800000600}"#)
        #expect(refusal(token, try keys(app.key())) == .subject)
    }

    @Test("truncates names, and drops invalid names and pictures")
    func readsProfiles() throws {
        let app = try HostApp()
        let keys = try keys(app.key())
        func read(_ more: String) throws -> (String?, String?) {
            let token = try app.token(#"{"sub":"u1","exp":1800000600\#(more)}"#)
            let read = try DelegatedToken(token, keys: keys, expecting: .init(), now: Self.now)
            return (read.name?.text, read.picture?.text)
        }
        #expect(
            try read(#","name":" Ann\tB\n","picture":"https://a.example/p.png""#) == (
                "Ann B", "https://a.example/p.png"
            ))
        #expect(try read(#","name":"\#(String(repeating: "é", count: 300))""#).0 == String(repeating: "é", count: 128))
        for claims in [
            #","name":"","picture":"""#, #","name":7,"picture":7"#, #","name":" ","picture":"javascript:x""#,
        ] {
            #expect(try read(claims) == (nil, nil))
        }
    }

    @Test("reads each part in one way only: strict base64url, no repeated keys, objects")
    func readsStrictly() throws {
        let app = try HostApp()
        let keys = try keys(app.key())
        let token = try app.token(Self.claims)
        for text in ["", ".", "..", "a.b", "...", token + ".", token + "=", " " + token, "\(token)\n", token + ".x"] {
            #expect(refusal(text, keys) == .malformed)
        }
        #expect(refusal(try app.token(#"{"sub":"u1","sub":"u2","exp":1800000600}"#), keys) == .malformed)
        #expect(refusal(try app.token("[1]"), keys) == .malformed)
        #expect(refusal(try app.token(Self.claims, header: #"{"alg":"HS256","alg":"HS256"}"#), keys) == .malformed)
    }

    /// The refusal proves that the signature was accepted: these tokens have no subject, or no JSON.
    @Test(
        "accepts the signatures of the standards' own examples",
        arguments: [
            (
                // RFC 7515, A.1
                #"{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"}"#,
                "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGF"
                    + "tcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
                DelegatedToken.Refusal.subject
            ),
            (
                // RFC 7515, A.3
                #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
                    + #""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#,
                "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb2"
                    + "90Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
                DelegatedToken.Refusal.subject
            ),
            (
                // RFC 8037, A.4
                #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
                "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWb"
                    + "hijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
                DelegatedToken.Refusal.malformed
            ),
        ])
    func knowsExamples(_ key: String, _ token: String, _ refusal: DelegatedToken.Refusal) throws {
        #expect(self.refusal(token, try keys(key), now: 1_300_819_000) == refusal)
    }
}
