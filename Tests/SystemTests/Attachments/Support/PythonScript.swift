// Python programs beside the tests: Playwright for a browser.

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
