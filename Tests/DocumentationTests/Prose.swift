// The form of the documentation: tables, lines, contents, words, and figures that several pages quote.

import Foundation
import TestSupport
import Testing

@Suite("The prose of the documentation", .timeLimit(.minutes(1)))
struct Prose {
    @Test("has whole tables, and no row twice in one table")
    func tables() throws {
        for document in try Document.all() {
            var rows: Set<Substring> = []
            var before: Substring = ""
            for line in document.prose.split(separator: "\n", omittingEmptySubsequences: false) {
                defer { before = line }
                guard line.hasPrefix("|") else {
                    rows = []
                    continue
                }
                // A table begins with two lines: its head, and the line of dashes. A row alone has lost its table.
                if before.hasPrefix("|---") || before.hasPrefix("| ---") { rows = [] }
                #expect(rows.insert(line).inserted, "\(document.path): \(line)")
            }
            let cut = document.prose.matches(of: /\n\n(\|.*)\n(?!\| ?-)/).map(\.1)
            #expect(cut.isEmpty, "\(document.path) has a row without a table: \(cut)")
        }
    }

    @Test("has lines of at most 120 columns, but for tables, code and what cannot be broken")
    func lines() throws {
        for document in try Document.all() {
            let long = document.prose.split(separator: "\n").filter { line in
                line.count > 120 && !line.hasPrefix("|") && !line.hasPrefix("![")
                    && !line.contains(/^- \[.*\)$/)
            }
            #expect(long.isEmpty, "\(document.path): \(long)")
        }
    }

    @Test("has a table of contents on each page of more than 150 lines")
    func contents() throws {
        for document in try Document.all() where document.text.split(separator: "\n").count > 150 {
            let linked = document.links.filter { $0.hasPrefix("#") }.map { String($0.dropFirst()) }
            let missing = document.sections.filter { !linked.contains($0) }
            #expect(missing.isEmpty, "\(document.path): \(missing)")
        }
    }

    @Test("is listed in the index")
    func index() throws {
        let listed = try Set(Document("docs/README.md").links)
        let pages = try Document.all().map(\.path).filter { $0.hasPrefix("docs/") && !$0.hasPrefix("docs/decisions/") }
            .map { String($0.dropFirst("docs/".count)) }
        #expect(pages.filter { $0 != "README.md" && !listed.contains($0) } == [])
        // 32 pages and two indexes. A section of a page that exists is found sooner than another page.
        #expect(pages.count <= 34)
    }

    @Test("begins each page with its reader")
    func readers() throws {
        for document in try Document.all() where document.path.hasPrefix("docs/") {
            guard !document.path.hasPrefix("docs/decisions/") else { continue }
            let beginning = document.text.prefix(700)
            #expect(beginning.contains("This page is for"), "\(document.path)")
        }
    }

    @Test("has an index of questions, each with a link to a section")
    func questions() throws {
        let rows = try Document("docs/README.md").prose.matches(of: /(?m)^\| (.+\?) \| (.+) \|$/)
        #expect(rows.count >= 40)
        for row in rows {
            // A test of links checks that the sections exist.
            let links = row.2.matches(of: /\]\(([^)\s]+)\)/).map(\.1)
            #expect(!links.isEmpty && links.allSatisfy { $0.contains("#") }, "\(row.1)")
        }
        #expect(Set(rows.map(\.1)).count == rows.count)
    }

    /// Words that the reader would stumble over, and what to write instead.
    private static let words: [(pattern: String, instead: String)] = [
        (#"\b(goes|went|going) on\b"#, "continues"), (#"\bis away\b"#, "is unreachable"),
        (#"\bwhat became of\b"#, "the outcome of"), (#"\banew\b"#, "again"), (#"\bfor good\b"#, "for ever"),
        (#"\bbelieves?\b"#, "honours, uses"), (#"\bhears?\b"#, "receives"),
        (#"\btells? (the|a) (server|client)"#, "reports"),
        (#"\bbefore the version that\b"#, "nothing"), (#"\bso many\b"#, "a number"),
        (#"(^|[.!?] )Who(ever)? "#, "the subject: the client, the caller"),
    ]

    @Test("has none of the words that a reader stumbles over")
    func words() throws {
        for document in try Document.all() {
            for (pattern, instead) in Self.words {
                let found = document.prose.matches(of: try Regex(pattern).anchorsMatchLineEndings())
                    .map { document.prose[$0.range] }
                #expect(found.isEmpty, "\(document.path): \(found); write: \(instead)")
            }
        }
    }

    /// Figures that several pages quote. Each match of the pattern must capture the value.
    private static let facts: [(pattern: String, value: String)] = [
        (#"([\d.,]+) KiB (?:while it waits|per waiting poll)"#, "6.9"),
        (#"(\d+) per node, plus your own"#, "18"),
        (#"PostgreSQL (\d+) or newer"#, "15"),
        (#"Swift (6\.\d) or"#, "6.2"),
    ]

    @Test("quotes the same figure for the same thing on each page")
    func figures() throws {
        let documents = try Document.all()
        for (pattern, value) in Self.facts {
            let regex = try Regex(pattern, as: (Substring, Substring).self)
            for document in documents {
                for match in document.text.matches(of: regex) {
                    #expect(match.1 == value, "\(document.path): \(match.0)")
                }
            }
        }
    }
}
