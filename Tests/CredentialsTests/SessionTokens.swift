// Tokens by shape and secrecy.

import Testing

@testable import Credentials

@Suite("A session token", .timeLimit(.minutes(1)))
struct SessionTokens {
    @Test("is read back from its text, with the same digest")
    func roundTrip() throws {
        let token = SessionToken.random()
        #expect(token.text.utf8.count == SessionToken.characterCount)
        let read = try #require(SessionToken(parsing: token.text))
        #expect(read == token)
        #expect(read.digest == token.digest)
        #expect(read.digest.count == 32)
        #expect(SessionToken(parsing: ("Bearer " + token.text).dropFirst(7)) == token)
        #expect(SessionToken(parsing: Array(token.text.utf8)) == token)
    }

    @Test("keeps its form and digest in all versions, because sessions outlive versions")
    func fixed() throws {
        let text = "parley_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh-RJn6K"
        let token = try #require(SessionToken(parsing: text))
        #expect(token.text == text)
        // SHA-256 of the bytes 00…1f.
        #expect(token.digest.hexadecimal == "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd")
    }

    @Test("is refused with any one character changed, added or missing")
    func damaged() {
        let text = Array(SessionToken.random().text.utf8)
        for index in text.indices {
            var changed = text
            changed[index] = changed[index] == 0x61 ? 0x62 : 0x61
            #expect(SessionToken(parsing: changed) == nil)
            changed.remove(at: index)
            #expect(SessionToken(parsing: changed) == nil)
        }
        #expect(SessionToken(parsing: text + [0x61]) == nil)
        #expect(SessionToken(parsing: text.map { $0 == 0x5f ? 0xc3 : $0 }) == nil)
        #expect(SessionToken(parsing: "") == nil)
    }

    @Test("is never shown in logs")
    func redacted() {
        let token = SessionToken.random()
        let secret = token.text.dropFirst(SessionToken.prefix.count).prefix(10)
        var dumped = ""
        dump(token, to: &dumped)
        for shown in ["\(token)", String(reflecting: token), "\([token])", dumped] {
            #expect(!shown.contains(secret))
            #expect(!shown.contains("[" + "\(token.digest[0])"))
        }
    }

    @Test("is never the same twice")
    func unique() {
        #expect(Set((1...100).map { _ in SessionToken.random().text }).count == 100)
    }
}
