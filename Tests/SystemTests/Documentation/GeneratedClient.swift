// A client that PyPI's openapi-python-client generates from docs/openapi.yaml.

import Foundation
import TestSupport
import Testing

/// The generator has many dependencies: `.ci/deps` installs it in a folder of its own.
private let generator: String = {
    let environment = ProcessInfo.processInfo.environment
    let cache = environment["XDG_CACHE_HOME"] ?? (environment["HOME"] ?? "/root") + "/.cache"
    return cache + "/parley-tests/openapi"
}()

extension SystemTests {
    @Suite(
        "A client generated from the OpenAPI document",
        .enabled(if: Tool.permits(FileManager.default.fileExists(atPath: generator)), "install it with .ci/deps test"),
        .timeLimit(.minutes(5)))
    struct GeneratedClient {
        @Test("is generated without a warning, and follows the walk-through")
        func walks() async throws {
            let directory = try TemporaryDirectory()
            let document = Repository.file("docs/openapi.yaml").path
            #expect(try await run("generate", document, directory.path) == "")
            let node = try await TestNodes.shared().a
            #expect(try await run("walk", node.address.description, directory.path) == "walked\n")
        }

        private func run(_ arguments: String...) async throws -> String {
            let file = Repository.file("Tests/SystemTests/Documentation/generated_client.py").path
            let program = try await TestProcess.start(
                ["/usr/bin/python3", "-B", file] + arguments, environment: ["PYTHONPATH": generator])
            let exit = try await program.waitForExit(within: .seconds(120))
            let output = String(decoding: program.output, as: UTF8.self)
            try #require(exit == .status(0), "\(output)\(program.errors)")
            return output
        }
    }
}
