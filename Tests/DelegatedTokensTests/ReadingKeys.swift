// How a file of keys is read, and read again after a change.
import Foundation
import Logging
import TestSupport
import Testing

@testable import DelegatedTokens

@Suite("Reading keys", .timeLimit(.minutes(1)))
struct ReadingKeys {
    private func set(_ text: String) async throws -> KeySet { try await KeySet(Array(text.utf8)) }

    @Test("skips unusable keys, and reports why without showing them")
    func leavesOut() async throws {
        let good = try await HostApp(.edDSA)
        let set = try await set(
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

    @Test("reads a single key as a set of one, and only the public part of a private key")
    func takesOne() async throws {
        let app = try await HostApp(.edDSA)
        #expect(try await set(app.key([("d", "AAAA")])).keys.count == 1)
    }

    @Test(
        "requires at least one key",
        arguments: [
            "", "[]", "{}", #"{"keys":[]}"#, #"{"keys":7}"#, #"{"keys":[{"kty":"oct","k":"c2hvcnQ"}]}"#, "keys",
        ])
    func wantsKeys(_ text: String) async throws {
        await #expect(throws: KeySet.Unreadable.self) { try await set(text) }
    }

    @Test("accepts a bounded number of keys")
    func bounds() async throws {
        let key = try await HostApp(.hs256).key()
        #expect(
            try await set(#"{"keys":[\#(Array(repeating: key, count: 32).joined(separator: ","))]}"#).keys.count == 32)
        await #expect(throws: KeySet.Unreadable.self) {
            try await set(#"{"keys":[\#(Array(repeating: key, count: 33).joined(separator: ","))]}"#)
        }
    }

    @Test("reads a file again when it has changed, and keeps the earlier keys when the file is broken or gone")
    func readsAgain() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/jwks.json"
        func write(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: path), options: .atomic) }
        let (old, new) = (try await HostApp(.es256), try await HostApp(.edDSA))
        await #expect(throws: KeySet.Unreadable.self) {
            try await KeyFile(path: path, logger: Logger(label: "test"))
        }
        try write(HostApp.keySet(old.key()))
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let file = try await KeyFile(path: path, logger: quiet)
        func algorithms() async -> [String] { await file.keys().keys.map(\.algorithm.rawValue) }
        #expect(await algorithms() == ["ES256"])
        try write("{")
        #expect(await algorithms() == ["ES256"])
        try write(HostApp.keySet(old.key(), new.key()))
        #expect(await algorithms() == ["ES256", "EdDSA"])
        try FileManager.default.removeItem(atPath: path)
        #expect(await algorithms() == ["ES256", "EdDSA"])
        try write(HostApp.keySet(new.key()))
        #expect(await algorithms() == ["EdDSA"])
    }
}
