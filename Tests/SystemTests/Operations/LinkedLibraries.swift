// What the server's executables are linked to: a library that nobody needs costs every download and every image.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Linked libraries", .timeLimit(.minutes(1)))
    struct LinkedLibraries {
        @Test(
            "of the server leave out the whole Foundation, and ICU with it",
            arguments: ["parley", "parley-thumbnailer"])
        func foundation(_ name: String) async throws {
            let file = URL(filePath: Parley.executable).deletingLastPathComponent().appending(path: name)
            let libraries = try await output("/usr/bin/readelf", "--dynamic", "--wide", file.path)
                .matches(of: /\(NEEDED\).*\[(.+)\]/).map { String($0.1) }
            try #require(libraries.contains("libc.so.6"))
            // FoundationEssentials links neither (docs/decisions/build.md).
            for large in ["libFoundation.so", "libFoundationInternationalization.so", "lib_FoundationICU.so"] {
                #expect(!libraries.contains(large), "\(name) links \(large). Does a file import Foundation?")
            }
        }

        @Test("leave the server at most 40 MB of code and data, Swift's libraries apart")
        func size() async throws {
            // `make dist` checks what people install, with Swift's libraries inside.
            let table = try await output("/usr/bin/size", Parley.executable).split(separator: "\n")
            let fields = try #require(table.last).split(whereSeparator: \.isWhitespace)
            #expect(try #require(Int(fields[3])) <= 40_000_000)
        }

        private func output(_ command: String...) async throws -> String {
            let program = try await TestProcess.start(command)
            let exit = try await program.waitForExit(within: .seconds(30))
            #expect(exit == .status(0), "\(command): \(program.errors)")
            return String(decoding: program.output, as: UTF8.self)
        }
    }
}
