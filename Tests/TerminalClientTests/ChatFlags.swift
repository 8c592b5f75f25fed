// The command line of `parley chat`.
import CommandLineFlags
import Foundation
import Testing

@testable import TerminalClient

@Suite("The flags of parley chat", .timeLimit(.minutes(1)))
struct ChatFlags {
    private func parse(_ arguments: String..., environment: [String: String] = ["HOME": "/home/ann"]) throws
        -> ChatInvocation
    {
        try ChatInvocation.parse(arguments, environment: environment)
    }

    private func store(_ arguments: String..., environment: [String: String] = ["HOME": "/home/ann"]) throws -> String {
        guard case .run(let settings) = try ChatInvocation.parse(arguments, environment: environment) else { return "" }
        return settings.store.path
    }

    @Test("each server and each account has a store of its own")
    func stores() throws {
        #expect(try store() == "/home/ann/.local/share/parley/chat/127.0.0.1_8080/default")
        #expect(
            try store(
                "--server", "https://chat.example.org", "--username", "../ann", environment: ["XDG_DATA_HOME": "/d"])
                == "/d/parley/chat/chat.example.org/_..%2fann")
        #expect(try store("--store", "/tmp/x") == "/tmp/x")
    }

    @Test("reports all mistakes at once")
    func mistakes() {
        let error = #expect(throws: ConfigurationErrors.self) {
            try parse("--server", "chat.example.org", "--password", "x", environment: [:])
        }
        #expect(error?.mistakes.count == 3)
    }

    @Test("shows help")
    func help() throws {
        guard case .show(let text) = try parse("--nonsense", "--help") else { throw ConfigurationErrors(mistakes: []) }
        #expect(text.contains("--username NAME") && text.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }
}
