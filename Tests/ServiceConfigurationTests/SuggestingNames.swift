// "Did you mean …?" for flags, commands, variables and keys.
import CommandLineFlags
import ServiceConfiguration
import Testing

@Suite("Suggesting names", .timeLimit(.minutes(1)))
struct SuggestingNames {
    private let commands = ["serve", "migrate", "admin", "import", "export", "chat"]

    @Test(
        "finds the name behind a typing mistake",
        arguments: [
            ("serv", "serve"), ("sevre", "serve"), ("Serve", "serve"), ("impotr", "import"), ("exprot", "export"),
            ("chats", "chat"),
        ])
    func mistyped(typed: String, meant: String) {
        #expect(Suggestion.near(typed, among: commands) == [meant])
    }

    @Test(
        "finds the flag that has the typed words and the fewest others",
        arguments: [
            ("--port", ["--http-port"]), ("--host", ["--http-host"]), ("--token", ["--admin-token"]),
            ("--http-prot", ["--http-port"]), ("--prot", ["--http-port"]), ("--http_port", ["--http-port"]),
            ("--database", ["--database-url", "--database-connections"]),
        ])
    func parts(typed: String, meant: [String]) {
        #expect(Suggestion.near(typed, among: Setting.all.map(\.flag)) == meant)
    }

    @Test("names at most three, in the list's order, and none that is far")
    func bounded() {
        #expect(
            Suggestion.near("--url", among: ["--a-url", "--b-url", "--c-url", "--d-url"]) == [
                "--a-url", "--b-url", "--c-url",
            ])
        #expect(
            Suggestion.question("--url", among: ["--a-url", "--b-url", "--c-url"])
                == " Did you mean --a-url, --b-url or --c-url?")
        for typed in ["", "-", "x", "foo", "constantinople", String(repeating: "serve", count: 100_000)] {
            #expect(Suggestion.question(typed, among: commands).isEmpty)
        }
    }
}
