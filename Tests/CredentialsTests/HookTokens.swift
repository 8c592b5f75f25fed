// Tokens in the addresses of hooks.
import Credentials
import Testing

@Suite("Hook tokens", .timeLimit(.minutes(1)))
struct HookTokens {
    @Test("are read back from their text, and nothing else is")
    func reads() throws {
        let token = HookToken.random()
        #expect(token.text.hasPrefix("parleyhook_") && token.text.utf8.count == 59)
        #expect(HookToken(parsing: token.text) == token && HookToken(parsing: token.text[...])?.digest == token.digest)
        #expect(HookToken.random() != token)
        let last = token.text.last == "A" ? "B" : "A"
        for text in [
            "", "parleyhook_", String(token.text.dropLast()), token.text + "A",
            token.text.dropLast(2) + "\(last)\(last)",
            SessionToken.random().text, token.text.uppercased(), "%70" + token.text.dropFirst(),
        ] {
            #expect(HookToken(parsing: text) == nil, "\(text)")
        }
        #expect(SessionToken(parsing: token.text) == nil)
    }

    @Test("are printed by their text only")
    func hides() {
        let token = HookToken.random()
        var dumped = ""
        dump(token, to: &dumped)
        #expect(!"\(token)\(String(reflecting: token))\(dumped)".contains(token.text.dropFirst(11)))
    }
}
