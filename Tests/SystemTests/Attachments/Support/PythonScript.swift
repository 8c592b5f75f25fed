// Python programs beside the tests: Pillow and exiftool for pictures, Playwright for a browser.

import Foundation
import TestSupport
import Testing

enum PythonScript {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs a file of `Attachments/Scripts` with Debian's Python, and returns its output.
    static func run(
        _ name: String, _ arguments: [String], input: Data = Data(), within limit: Duration = .seconds(60)
    ) async throws -> Data {
        let file = Repository.file("Tests/SystemTests/Attachments/Scripts/\(name)").path
        // pip installs for the user, below the home directory.
        let home = ProcessInfo.processInfo.environment["HOME"] ?? "/root"
        let program = try await TestProcess.start(
            ["/usr/bin/python3", "-B", file] + arguments, environment: ["HOME": home], input: input)
        let exit = try await program.waitForExit(within: limit)
        guard exit == .status(0) else { throw Failure(description: "\(name): \(exit)\n\(program.errors)") }
        return program.output
    }
}

/// Pictures with metadata, made once by Pillow and exiftool.
struct TestPictures: Sendable {
    private let directory: TemporaryDirectory

    private static let made = Task {
        let directory = try TemporaryDirectory()
        _ = try await PythonScript.run("pictures.py", ["make", directory.path])
        return TestPictures(directory: directory)
    }

    static func shared() async throws -> TestPictures { try await made.value }

    var path: String { directory.path }

    /// The files' names, such as `orientation-6.jpg`.
    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }

    subscript(name: String) -> Data {
        get throws { try Data(contentsOf: URL(filePath: "\(path)/\(name)")) }
    }
}
