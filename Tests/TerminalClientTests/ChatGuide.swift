// docs/chat.md and the program say the same.
import Foundation
import Testing

@testable import TerminalClient

@Suite("docs/chat.md", .timeLimit(.minutes(1)))
struct ChatGuide {
    private let text: String

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        text = try String(contentsOf: root.appending(path: "docs/chat.md"), encoding: .utf8)
    }

    @Test("lists the keys of the help screen")
    func keys() {
        for section in HelpScreen.sections {
            let rows = section.keys.map { "| \($0.key) | \($0.effect) |" }
            let table = (["| \(section.title) | |", "| --- | --- |"] + rows).joined(separator: "\n")
            #expect(text.contains(table + "\n"), "\(table)")
        }
    }

    @Test("lists the flags")
    func flags() throws {
        guard case .show(let help) = try ChatInvocation.parse(["--help"], environment: [:]) else { return }
        for flag in help.matches(of: /(?m)^  (--[a-z]+ [A-Z]+)$/) { #expect(text.contains("| `\(flag.1)` |")) }
    }
}
