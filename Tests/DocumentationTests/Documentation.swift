// Compares the documentation with the code and with itself. Needs no server.

import Domain
import Foundation
import TestSupport
import Testing
import Yams

@Suite("The documentation", .timeLimit(.minutes(1)))
struct Documentation {
    @Test("has no link to a file or heading that does not exist")
    func links() throws {
        for document in try Document.all() {
            let folder = Repository.file(document.path).deletingLastPathComponent()
            for link in document.links where !link.contains("://") && !link.hasPrefix("mailto:") {
                let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                let file = parts[0].isEmpty ? nil : folder.appending(path: String(parts[0])).standardized
                #expect(
                    file.map { FileManager.default.fileExists(atPath: $0.path) } ?? true, "\(document.path): \(link)")
                guard parts.count == 2, file?.pathExtension ?? "md" == "md" else { continue }
                let prefix = Repository.directory.standardized.path + "/"
                let target = try file.map { try Document($0.path.replacing(prefix, with: "")) } ?? document
                #expect(target.anchors.contains(String(parts[1])), "\(document.path): \(link)")
            }
        }
    }

    @Test("names no source file that does not exist")
    func files() throws {
        // Parts of the repository that texts leave out of a path.
        let folders = ["", "Sources/", "Tests/", "docs/"]
        for document in try Document.all() {
            for name in document.prose.matches(of: /`([A-Za-z.][\w.+\/-]*\/[\w.+-]+\.(?:swift|sql|md|sh|yaml))`/).map(
                \.1)
            {
                let exists = folders.contains {
                    FileManager.default.fileExists(atPath: Repository.file($0 + name).path)
                }
                #expect(exists, "\(document.path): \(name)")
            }
        }
    }

    @Test("shows programs as the files have them")
    func programs() throws {
        var shown: [String] = []
        for document in try Document.all() {
            for block in document.markedBlocks where block.marker.hasPrefix("file: ") {
                let path = String(block.marker.dropFirst("file: ".count))
                let file = try String(contentsOf: Repository.file(path), encoding: .utf8)
                #expect(block.code == file, "\(document.path) shows another \(path).")
                shown.append(path)
            }
        }
        #expect(shown == ["docs/host-app/shop.py", "docs/host-app/shop.mjs"])
    }

    @Test("explains each problem code once in the client guide, those of people before those of administrators")
    func problemCodes() throws {
        let codes = ProblemCode.allCases.map(\.rawValue)
        let parts = try Document("docs/client-guide.md").text.split(separator: "\n### Codes of admin calls and hooks\n")
        try #require(parts.count == 2)
        let explained = parts.map { part in
            part.matches(of: /(?m)^\| `([a-z_]+)` \|/).map { String($0.1) }.filter { codes.contains($0) }
        }
        #expect(
            Set(codes).symmetricDifference(explained.flatMap(\.self)).sorted() == [],
            "Each code in Sources/Domain/Values/Problem.swift needs a row in a table of docs/client-guide.md.")
        for part in explained {
            #expect(
                part == codes.filter { part.contains($0) },
                "The rows have the order of Sources/Domain/Values/Problem.swift, and each code has one.")
        }
    }

    @Test("has a section and an example for each type of event")
    func eventTypes() throws {
        let description = try Yams.compose(
            yaml: String(contentsOf: Repository.file("docs/openapi.yaml"), encoding: .utf8))
        let event = description?["components"]?["schemas"]?["Event"]?["properties"]?["type"]?["enum"]
        let types = try #require(event?.sequence).compactMap(\.string)
        let events = try Document("docs/events.md")
        let sections = events.prose.matches(of: /(?m)^## (.+)$/).map { String($0.1) }
        #expect(sections == types)
        #expect(events.firstCells.filter { types.contains($0) } == types)
        for type in types {
            #expect(events.markedBlocks.contains { $0.marker == "example: \(type)" }, "\(type)")
        }
    }

    @Test("has a location in nginx for each call that waits, which waits longer")
    func waitingCalls() throws {
        let description = try Yams.compose(
            yaml: String(contentsOf: Repository.file("docs/openapi.yaml"), encoding: .utf8))
        let nginx = try String(contentsOf: Repository.file("docker/parley-server.conf"), encoding: .utf8)
        let paths = try #require(description?["paths"]?.mapping).filter { path in
            path.value["get"]?["parameters"]?.sequence?.contains { $0["name"]?.string == "wait" } == true
        }
        .compactMap(\.key.string)
        #expect(paths == ["/v1/sync", "/v1/admin/changes"])
        for path in paths {
            let location = nginx.firstMatch(of: try Regex("(?s)\nlocation = \(path) \\{.*?\n\\}"))
            #expect(location.map { nginx[$0.range].contains("proxy_read_timeout 70s;") } == true, "\(path)")
        }
    }

    @Test("lists each decision in one line of the index")
    func decisions() throws {
        let lines = try Document("docs/decisions.md").text.matches(of: /(?m)^- \[(.+)\]\(decisions\/[a-z-]+\.md#/)
        let pages = try Document.all().filter { $0.path.hasPrefix("docs/decisions/") }
        let titles = pages.flatMap { page in
            let parts = page.prose.split(separator: "\n## Short decisions\n")
            let sections = parts[0].matches(of: /(?m)^## (.+)$/).map(\.1)
            let short = parts.dropFirst().flatMap { $0.matches(of: /(?m)^- \*\*(.+?)\.\*\*/).map(\.1) }
            return (sections + short).map(String.init)
        }
        #expect(titles.count > 30)
        #expect(lines.map { String($0.1) }.sorted() == titles.sorted())
    }

    @Test("is short on the pages that are read first", arguments: [("README.md", 150), ("docs/architecture.md", 150)])
    func lengths(_ path: String, lineCountMax: Int) throws {
        let lineCount = try Document(path).text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
        #expect(lineCount <= lineCountMax)
    }

    @Test("lists the words of the glossary alphabetically, each once")
    func glossary() throws {
        let entries = try Document("docs/glossary.md").prose.matches(of: /(?m)^- \*\*(.+?)\*\*:/)
        let words = entries.map { $0.1.lowercased() }
        #expect(words.count > 30)
        #expect(words == words.sorted() && Set(words).count == words.count)
    }
}
