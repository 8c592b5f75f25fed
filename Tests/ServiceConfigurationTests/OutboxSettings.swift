// The list of databases with an outbox, and the command that prepares one.
import CommandLineFlags
import ServiceConfiguration
import Testing

@Suite("Outboxes in other databases", .timeLimit(.minutes(1)))
struct OutboxSettings {
    private func urls(_ text: String) -> [String]? {
        (try? Settings.load(arguments: [], environment: ["PARLEY_OUTBOX_URLS": text], for: .serve))?.outboxURLs
    }

    @Test(
        "are separated by commas where the next one begins, so that a list of hosts stays whole",
        arguments: [
            ("postgresql://a/b", ["postgresql://a/b"]),
            ("postgres://a/b,postgresql://c/d", ["postgres://a/b", "postgresql://c/d"]),
            ("postgres://a:1,b:2/x, host=c dbname=d", ["postgres://a:1,b:2/x", "host=c dbname=d"]),
            ("host=a,b port=1,2 dbname=x,host=c", ["host=a,b port=1,2 dbname=x", "host=c"]),
        ])
    func split(_ text: String, _ expected: [String]) {
        #expect(urls(text) == expected)
    }

    @Test("are refused if one is no connection string, or if they are too many")
    func refused() {
        for text in ["shop", "http://a/b", ",", "mysql://a/b"] { #expect(urls(text) == nil, "\(text)") }
        #expect(urls(Array(repeating: "postgresql://a/b", count: 16).joined(separator: ","))?.count == 16)
        #expect(urls(Array(repeating: "postgresql://a/b", count: 17).joined(separator: ",")) == nil)
    }

    @Test("are shown without their passwords")
    func shown() throws {
        var settings = Settings()
        settings.outboxURLs = ["postgresql://u:secret@a/b", "host=c password=secret"]
        #expect(!settings.effectiveDescription.contains("secret"))
        #expect(settings.effectiveDescription.contains("postgresql://u:***@a/b"))
    }

    @Test("are prepared by a command with one value")
    func command() throws {
        let parsed = try Invocation.parse(arguments: ["outbox", "install", "postgresql://a/b"], environment: [:])
        #expect(parsed == .outbox(OutboxRequest(url: "postgresql://a/b")))
        for words in [["install"], ["install", "x"], ["install", "host=a", "host=b"], ["remove", "host=a"]] {
            #expect(throws: ConfigurationErrors.self) {
                try Invocation.parse(arguments: ["outbox"] + words, environment: [:])
            }
        }
    }
}
