// Compares the troubleshooting list of docs/operations.md with the warnings and errors that the code logs.
import FoundationEssentials
import Testing

@Suite("The troubleshooting list in docs/operations.md", .timeLimit(.minutes(1)))
struct DocumentedLogLines {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The Swift files of the service; the load generator has no log.
    private func sources() throws -> [(path: String, text: String)] {
        let folder = Self.root.appending(path: "Sources").path
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".swift") && !$0.hasPrefix("Bench/") }
        return try paths.map { ($0, try String(contentsOfFile: folder + "/" + $0, encoding: .utf8)) }
    }

    /// The fixed parts of the string literals in a piece of code, without interpolations.
    private func fixedParts(_ code: Substring) -> [String] {
        code.matches(of: /"((?:[^"\\]|\\\([^)]*\)|\\.)*)"/).flatMap { literal in
            String(literal.1).split(separator: /\\\([^)]*\)/).map { $0.trimmingPrefix(while: \.isWhitespace) }
                .map(String.init).filter { $0.count > 8 }
        }
    }

    @Test("has each warning and error that the code logs")
    func lines() throws {
        let list = try String(contentsOf: Self.root.appending(path: "docs/operations.md"), encoding: .utf8)
        var count = 0
        for (path, text) in try sources() {
            let calls = /\b(?:logger|log)\.(?:warning|error|critical)\(((?:(?!metadata:|reason:|\n\s*\n).)*)/
                .dotMatchesNewlines()
            for call in text.matches(of: calls) {
                // The message is before the end of the call: of its line, or of the statement. A message may have a ";".
                let message = call.1.split(separator: /\)(?:\n|; )/).first ?? call.1
                for part in fixedParts(message) {
                    count += 1
                    #expect(list.contains(part), "\(path): \(part)")
                }
            }
            for worker in text.matches(of: /\b[Ww]orker\(\s*"([^"]+)"/) {
                count += 1
                #expect(list.contains("`\(worker.1)`"), "\(path): \(worker.1)")
            }
        }
        #expect(count > 15)
    }
}
