// Compares the code in the client's articles with Tests/SDKSample/Sources/Snippets, where it is compiled.

import Foundation
import TestSupport
import Testing

@Suite("The articles on the client", .timeLimit(.minutes(1)))
struct ClientArticles {
    static let snippets = "Tests/SDKSample/Sources/Snippets"
    static let articles = "Sources/Parley/Parley.docc/Articles"

    /// The names of the articles, without extension. `Guide` is docs/sdk.md.
    static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: Repository.file(folder).path)
            .map { String($0.prefix { $0 != "." }) }.sorted()
    }

    @Test("have a file of compiled code each")
    func files() throws {
        #expect(try Self.names(in: Self.snippets) == (Self.names(in: Self.articles) + ["Guide"]).sorted())
    }

    @Test("show the code that is compiled", arguments: try Self.names(in: snippets))
    func code(_ name: String) throws {
        let article = try Document(name == "Guide" ? "docs/sdk.md" : "\(Self.articles)/\(name).md")
        let shown = article.text.matches(of: /(?m)^```swift\n((?s).*?)^```$/).map { String($0.1) }
        #expect(try shown == Self.regions(in: "\(Self.snippets)/\(name).swift"))
    }

    /// The parts of a Swift file between `// snippet` and `// end`, or `/* snippet` and `end */`, without their indentation.
    static func regions(in path: String) throws -> [String] {
        let text = try Document(path).text
        return text.matches(of: /(?m)^ *\/[\/*] snippet\n((?s).*?)^ *(?:\/\/ end|end \*\/)$/).map { region in
            let lines = region.1.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            let indentation = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
            return lines.map { $0.dropFirst(indentation) + "\n" }.joined()
        }
    }
}
