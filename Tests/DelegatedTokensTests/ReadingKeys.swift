// How a file of keys is read, and read again after a change.
import Basics
import Foundation
import Logging
import TestSupport
import Testing

@testable import DelegatedTokens

@Suite("Reading keys", .timeLimit(.minutes(1)))
struct ReadingKeys {
    private func set(_ text: String) throws -> KeySet { try KeySet(Array(text.utf8)) }

    @Test("skips unusable keys, and reports why without showing them")
    func leavesOut() throws {
        let good = try HostApp(.edDSA)
        let set = try set(
            HostApp.keySet(
                #"{"kty":"oct","k":"c2hvcnQ"}"#, #"{"kty":"EC","crv":"P-521","x":"AA","y":"AA"}"#,
                #"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#, #"{"kty":"OKP","crv":"Ed25519","x":"AA"}"#,
                #"{"kty":"EC","crv":"P-256","x":"AA"}"#, good.key([("use", "enc")]), good.key([("alg", "ES256")]), "7",
                good.key()))
        #expect(set.keys.map(\.algorithm) == [.edDSA])
        #expect(set.remarks.count == 8)
        #expect(set.remarks.first == "key 1 of 9 has fewer than 32 bytes")
        #expect(!set.remarks.joined().contains("c2hvcnQ"))
    }

    /// The members of a key, of which some are replaced.
    private func json(_ app: HostApp, _ changes: [String: String]) -> String {
        let members = app.jwk.map { "\"\($0.name)\":\"\(changes[$0.name] ?? $0.value)\"" }
        return "{\(members.joined(separator: ","))}"
    }

    @Test("skips keys whose numbers make no key")
    func malformedNumbers() throws {
        let (ec, rsa, ed) = (try HostApp(.es256), try HostApp(.rs256), try HostApp(.edDSA))
        func part(_ app: HostApp, _ name: String) throws -> String {
            try #require(app.jwk.first { $0.name == name }?.value)
        }
        let (x, y, n) = (try part(ec, "x"), try part(ec, "y"), try part(rsa, "n"))
        let bytes = try #require(Base64.urlSafe.decode(x))
        let short = Base64.urlSafe.encode(Array(bytes.dropLast()))
        let long = Base64.urlSafe.encode([bytes[31]] + (Base64.urlSafe.decode(y) ?? []))
        let modulus = try #require(Base64.urlSafe.decode(n))
        let refused = [
            // Not on the curve; 31 and 33 bytes, which are 64 together; padding.
            json(ec, ["x": y, "y": x]), json(ec, ["x": short]), json(ec, ["x": short, "y": long]),
            json(ec, ["x": x + "="]), json(ec, ["x": ""]), json(ec, ["x": String(repeating: "A", count: 43), "y": x]),
            // 1,024 bits; an even modulus; exponents of 1, 4 and 2³⁴ + 1.
            json(rsa, ["n": Base64.urlSafe.encode(Array(modulus.prefix(127) + [1]))]),
            json(rsa, ["n": Base64.urlSafe.encode(modulus.dropLast() + [2])]), json(rsa, ["n": n + "=="]),
            json(rsa, ["e": "AQ"]), json(rsa, ["e": "BA"]), json(rsa, ["e": "BAAAAAE"]), json(rsa, ["e": ""]),
            json(ed, ["x": short]), json(ed, ["x": ""]), json(ed, ["x": "A"]),
        ]
        let set = try set(HostApp.keySet(refused.joined(separator: ","), ec.key()))
        #expect(set.keys.map(\.algorithm) == [.es256])
        #expect(set.remarks == refused.indices.map { "key \($0 + 1) of \(refused.count + 1) cannot be read" })
        let accepted = [json(ec, [:]), json(rsa, [:]), json(rsa, ["e": "Aw"]), json(ed, [:])]
        #expect(try self.set(HostApp.keySet(accepted.joined(separator: ","))).keys.count == accepted.count)
    }

    @Test("reads a single key as a set of one, and only the public part of a private key")
    func takesOne() throws {
        let app = try HostApp(.edDSA)
        #expect(try set(app.key([("d", "AAAA")])).keys.count == 1)
    }

    @Test(
        "requires at least one key",
        arguments: [
            "", "[]", "{}", #"{"keys":[]}"#, #"{"keys":7}"#, #"{"keys":[{"kty":"oct","k":"c2hvcnQ"}]}"#, "keys",
        ])
    func wantsKeys(_ text: String) throws {
        #expect(throws: KeySet.Unreadable.self) { try set(text) }
    }

    @Test("accepts a bounded number of keys")
    func bounds() throws {
        let key = try HostApp(.hs256).key()
        #expect(
            try set(#"{"keys":[\#(Array(repeating: key, count: 32).joined(separator: ","))]}"#).keys.count == 32)
        #expect(throws: KeySet.Unreadable.self) {
            try set(#"{"keys":[\#(Array(repeating: key, count: 33).joined(separator: ","))]}"#)
        }
    }

    @Test("reads a file again when it has changed, and keeps the earlier keys when the file is broken or gone")
    func readsAgain() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/jwks.json"
        func write(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: path), options: .atomic) }
        let (old, new) = (try HostApp(.es256), try HostApp(.edDSA))
        #expect(throws: KeySet.Unreadable.self) {
            try KeyFile(path: path, logger: Logger(label: "test"))
        }
        try write(HostApp.keySet(old.key()))
        let file = try KeyFile(path: path, logger: .quiet)
        func algorithms() -> [String] { file.keys().keys.map(\.algorithm.rawValue) }
        #expect(algorithms() == ["ES256"])
        try write("{")
        #expect(algorithms() == ["ES256"])
        try write(HostApp.keySet(old.key(), new.key()))
        #expect(algorithms() == ["ES256", "EdDSA"])
        try FileManager.default.removeItem(atPath: path)
        #expect(algorithms() == ["ES256", "EdDSA"])
        try write(HostApp.keySet(new.key()))
        #expect(algorithms() == ["EdDSA"])
    }
}
