// Files, and parts of files, that `make docs` writes.
import Foundation
import Testing

/// Text that follows from the code. Tests compare it with the repository, and `make docs` writes it there.
package enum GeneratedText {
    /// - Parameters:
    ///   - file: the file's path in the repository.
    ///   - mark: `limits` for the part between the lines `<!-- limits -->` and `<!-- /limits -->`. Nil: the whole file.
    package static func check(_ file: String, _ mark: String? = nil, is generated: String) throws {
        let url = Repository.file(file)
        let text = try String(contentsOf: url, encoding: .utf8)
        var part = text.startIndex..<text.endIndex
        if let mark {
            let start = try #require(text.firstRange(of: "<!-- \(mark) -->\n")).upperBound
            let end = try #require(text.firstRange(of: "\n<!-- /\(mark) -->")).lowerBound
            part = start..<end
        }
        if ProcessInfo.processInfo.environment["UPDATE_DOCS"] == "1" {
            let updated = text[..<part.lowerBound] + generated + text[part.upperBound...]
            try String(updated).write(to: url, atomically: true, encoding: .utf8)
        } else {
            #expect(text[part] == generated, "\(file) is out of date. Run make docs.")
        }
    }

    /// A table in Markdown.
    package static func table(_ columns: [String], _ rows: [[String]]) -> String {
        ([columns, columns.map { _ in "---" }] + rows).map { "| \($0.joined(separator: " | ")) |" }
            .joined(separator: "\n")
    }
}
