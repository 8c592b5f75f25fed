// How texts become Swift source. That the build notices changes is SwiftPM's part.

import Testing

@testable import EmbedFilesTool

@Suite("Embedded text", .timeLimit(.minutes(1)))
struct SwiftSourceTests {
    @Test(
        "is a literal on one line that means exactly the text",
        arguments: [
            ("select 1;\n", #""select 1;\n""#),
            (#"a "b" \(c) \n"#, #""a \"b\" \\(c) \\n""#),
            ("tab\tCRLF\r\n", #""tab\tCRLF\r\n""#),
            (#""""#, #""\"\"""#),
            ("Grüße 😀", #""Gr\u{fc}\u{df}e \u{1f600}""#),
            ("\u{feff}\u{2028}\0", #""\u{feff}\u{2028}\u{0}""#),
            ("", #""""#),
        ])
    func literal(text: String, literal: String) {
        #expect(SwiftSource.literal(text) == literal)
    }

    @Test("is in an enum, folders as arrays and files as strings")
    func source() {
        let source = SwiftSource.text(
            enumName: "EmbeddedSQL",
            constants: [
                .init(name: "migrations", value: .folder([("1.sql", "a"), ("2.sql", "b")])),
                .init(name: "openAPI", value: .file("c")),
            ])
        #expect(
            source.hasSuffix(
                """
                package enum EmbeddedSQL {
                    package static let migrations: [(name: String, text: String)] = [
                        (name: "1.sql", text: "a"),
                        (name: "2.sql", text: "b"),
                    ]
                    package static let openAPI: String = "c"
                }

                """))
    }
}
