// Pictures from Pillow, an implementation that shares no code with ours.
import Foundation
import Linux
import TestSupport
import Testing

/// A directory of pictures, made by pictures.py.
struct Pillow {
    private static let script = Repository.file("Tests/ThumbnailingTests/Pictures/pictures.py").path

    let directory: TemporaryDirectory

    /// - Parameter set: `make` or `bombs`.
    init(_ set: String) async throws {
        directory = try TemporaryDirectory()
        try await run(set)
    }

    /// Names of the pictures.
    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }
    }

    func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: directory.path + "/" + name)))
    }

    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(filePath: directory.path + "/" + name))
    }

    @discardableResult
    func run(_ command: String) async throws -> String {
        let python = Program(executable: "/usr/bin/python3", arguments: [Self.script, command, directory.path])
        let (status, output) = try await python.run()
        try #require(status == 0, "\(output)")
        return output
    }
}
