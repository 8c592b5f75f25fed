// The shell examples of the documentation, run as they are written there.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("The examples of the documentation", .timeLimit(.minutes(3)))
    struct PageExamples {
        /// A page with examples, in one shell as a reader has it. A block `run` is followed by the block `prints` with
        /// its output.
        struct Page: Sendable, CustomTestStringConvertible {
            let path: String
            /// The part of the page whose examples these are: its blocks are marked `run part` and `prints part`.
            var part: String?
            /// How many blocks the page has to run, so that none is lost by a wrong marker.
            let exampleCount: Int
            /// The variable with the process that the examples leave running.
            var background: String?
            /// Some examples verify signatures as an app does, with a package of PyPI.
            var needsVerifier = false
            /// The node's settings beside those of all pages; nil: the page uses the node that all pages share.
            var settings: (@Sendable () throws -> [String: String])?

            var testDescription: String { [path, part].compactMap(\.self).joined(separator: ", ") }
        }

        private static let adminToken = "admin-of-the-pages"

        static let pages = [
            Page(path: "docs/client-guide.md", exampleCount: 14),
            Page(path: "docs/changes.md", exampleCount: 1),
            Page(path: "docs/bots.md", exampleCount: 5),
            Page(path: "docs/legal-hold.md", exampleCount: 4),
            Page(path: "docs/moderation.md", exampleCount: 3),
            Page(path: "docs/webhooks.md", exampleCount: 4, background: "endpoint", needsVerifier: true),
            Page(
                path: "docs/bots.md", part: "commands", exampleCount: 4, background: "endpoint", needsVerifier: true),
            Page(path: "docs/moderation.md", part: "policy", exampleCount: 3, background: "policy") {
                let port = try Sockets.freePort()
                return [
                    "PARLEY_POLICY_URL": "http://127.0.0.1:\(port)/", "POLICY_PORT": "\(port)",
                    // The machines of CI are shared.
                    "PARLEY_POLICY_TIMEOUT_MS": "5000",
                ]
            },
        ]

        /// The node of all pages whose settings are those of all pages. Each page has its own people.
        private static let node = Task { try await start([:]) }

        private static func start(_ settings: [String: String]) async throws -> Node {
            let common = [
                "PARLEY_ADMIN_TOKEN": adminToken, "PARLEY_PUSH_ALLOW_PRIVATE": "true",
                "PARLEY_WEBHOOK_RETRIES": "1,1,1",
            ]
            return try await Node.start(
                database: try await MigratedDatabase.create(),
                settings: common.merging(settings.filter { $0.key.hasPrefix("PARLEY_") }) { $1 })
        }

        /// The examples of a page in their order: the commands, and the output of each.
        private func examples(of page: Page) throws -> [(script: String, output: String)] {
            var examples: [(script: String, output: String)] = []
            let part = page.part.map { " " + $0 } ?? ""
            for block in try Document(page.path).markedBlocks {
                switch block.marker {
                case "run" + part: examples.append((block.code, ""))
                case "prints" + part: examples[examples.count - 1].output += block.code
                default: break
                }
            }
            return examples
        }

        @Test("print what the page shows", arguments: pages.filter { !$0.needsVerifier || WebhookSink.canVerify })
        func prints(_ page: Page) async throws {
            let examples = try examples(of: page)
            try #require(examples.count == page.exampleCount)
            let directory = try TemporaryDirectory()
            let own = try page.settings?()
            let node = if let own { try await Self.start(own) } else { try await Self.node.value }
            // A separate line ends the output of each example.
            let end = "-- end of example --"
            let script =
                (page.background.map { "trap 'kill $\($0) 2>/dev/null' EXIT\n" } ?? "")
                + examples.map { $0.script + "\necho '\(end)'\n" }.joined()
            let environment = [
                "PARLEY": node.address.description, "ADMIN": Self.adminToken,
                // pip installs for the user, below the home directory.
                "HOME": ProcessInfo.processInfo.environment["HOME"] ?? "/root",
            ]
            let output = try await run(script, environment.merging(own ?? [:]) { $1 }, in: directory)
            #expect(Array(output.components(separatedBy: end + "\n").dropLast()) == examples.map(\.output))
            if own != nil { try await node.stop() }
        }

        private func run(
            _ script: String, _ environment: [String: String], in directory: TemporaryDirectory
        ) async throws -> String {
            let program = try await TestProcess.start(
                ["/bin/bash", "-c", script], environment: environment, in: directory.path)
            let exit = try await program.waitForExit(within: .seconds(120))
            #expect(exit == .status(0), "\(program.errors)")
            return String(decoding: program.output, as: UTF8.self)
        }

        /// The one block of a page with this marker.
        private func block(_ marker: String, in page: String) throws -> String {
            let found = try Document(page).markedBlocks.filter { $0.marker == marker }
            try #require(found.count == 1, "\(page) has one block marked \(marker)")
            return found[0].code
        }

        @Test("play a day in the shop, in Python and in Node.js")
        func shop() async throws {
            func block(_ marker: String) throws -> String { try self.block("shop " + marker, in: "docs/host-app.md") }
            let directory = try TemporaryDirectory()
            try FileManager.default.createSymbolicLink(
                at: URL(filePath: directory.path + "/docs"), withDestinationURL: Repository.file("docs"))
            _ = try await run(block("secrets"), [:], in: directory)
            let token = try String(contentsOfFile: directory.path + "/admin-token", encoding: .utf8)
            let node = try await Node.start(
                database: try await MigratedDatabase.create(),
                settings: [
                    "PARLEY_ADMIN_TOKEN": token.trimmingCharacters(in: .newlines),
                    "PARLEY_JWT_KEYS": directory.path + "/keys.json", "PARLEY_JWT_AUDIENCE": "parley",
                    // The page's last advice: the shop needs neither registration nor the directory.
                    "PARLEY_REGISTRATION": "closed", "PARLEY_DIRECTORY": "off",
                ])
            let environment = ["PARLEY": node.address.description]
            _ = try await run(block("key"), environment, in: directory)
            let day = try block("python prints")
            #expect(try await run(block("python"), environment, in: directory) == day)
            #expect(try await run(block("node"), environment, in: directory) == day.replacing("1001", with: "1002"))
            try await node.stop()
        }

        @Test("print what the README and the walk-through show, before and after a restart")
        func walkThrough() async throws {
            func block(_ marker: String, in page: String = "docs/walkthrough.md") throws -> String {
                try self.block(marker, in: page)
            }
            let directory = try TemporaryDirectory()
            let settings = ["PARLEY_DATA_DIR": directory.path + "/data"]
            let first = try await Node.start(database: nil, settings: settings)
            let environment = ["PARLEY": first.address.description]
            let sent = try await run(try block("first message", in: "README.md"), environment, in: directory)
            #expect(sent.matches(of: /"text":"Hello, kitchen"/).count == 2, "the message, and the inbox with it")
            // The variables that the reader's shell still has after the restart.
            let keep = "\n{ declare -p ann ben thread cursor PARLEY; declare -f as field; } > known"
            #expect(
                try await run(try block("walkthrough") + keep, environment, in: directory)
                    == block("walkthrough prints"))
            // The signal that Ctrl-C sends.
            #expect(try await first.stop(by: SIGINT).exit == .status(0))

            let second = try await Node.start(database: nil, port: first.address.port, settings: settings)
            let after = try await run(
                ". ./known\n" + block("walkthrough after a restart"), environment, in: directory)
            #expect(try after == block("walkthrough prints after a restart"))
            try await second.stop()
        }
    }
}
