// Reads configuration files from disk.

import CommandLineFlags
import FoundationEssentials
import Testing

@testable import ServiceConfiguration

@Suite("The configuration file on disk", .timeLimit(.minutes(1)))
struct ConfigurationFiles {
    private func reading(_ bytes: [UInt8]) throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: "parley-\(UUID()).conf")
        try Data(bytes).write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        return try ConfigurationFile.read(path.path)
    }

    @Test("is read as UTF-8")
    func text() throws {
        #expect(try reading(Array("data_dir = /Übung\n".utf8)) == "data_dir = /Übung\n")
    }

    @Test("is refused if it is missing, a directory, not text or too large")
    func refused() throws {
        let missing = #expect(throws: ConfigurationErrors.self) {
            try Settings.load(arguments: ["--config=/nonexistent/parley.conf"], environment: [:])
        }
        #expect(missing?.description.hasSuffix("cannot be read: there is no such file.") == true)
        let directory = #expect(throws: ConfigurationErrors.self) {
            try Settings.load(arguments: ["--config=/"], environment: [:])
        }
        #expect(directory?.description.hasSuffix("cannot be read: Is a directory.") == true)
        #expect(throws: ConfigurationFile.Unreadable.self) { try reading([0x61, 0xff]) }
        #expect(throws: ConfigurationFile.Unreadable.self) {
            try reading(Array(repeating: 0x0a, count: ConfigurationFile.byteCountMax + 1))
        }
    }
}
