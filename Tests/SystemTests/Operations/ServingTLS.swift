// TLS served by the node, as curl and openssl see it.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("TLS served by the node", .timeLimit(.minutes(2)))
    struct ServingTLS {
        private static let renewed = "loaded a new TLS certificate; new connections use it"
        private static let refused = "loading the new TLS certificate failed; the old one stays in use"

        /// A node with the pair `now` of a directory.
        private struct Ground {
            let certificates: Certificates
            let node: Node

            init() async throws {
                certificates = try Certificates()
                for name in ["first", "second"] { try certificates.make(name) }
                try certificates.use("first")
                node = try await Node.start(
                    database: try await TestCluster.shared().createDatabase(),
                    settings: [
                        "PARLEY_TLS_CERTIFICATE_FILE": certificates.path + "/now.crt",
                        "PARLEY_TLS_KEY_FILE": certificates.path + "/now.key",
                    ])
            }

            /// Runs curl, which trusts one certificate only; 0 is its exit when all went well.
            func curl(
                _ path: String, trusting name: String = "first", _ more: [String] = []
            ) async throws -> TestProcess {
                try await TestProcess.start(
                    [
                        "/usr/bin/curl", "--disable", "--silent", "--include", "--max-time", "60", "--cacert",
                        name + ".crt",
                    ]
                        + more + ["https://127.0.0.1:\(node.address.port)\(path)"], in: certificates.path)
            }

            func answer(
                _ path: String, trusting name: String = "first", _ more: [String] = []
            ) async throws -> (exit: TestProcess.Exit, text: String) {
                let program = try await curl(path, trusting: name, more)
                let exit = try await program.waitForExit(within: .seconds(65))
                return (exit, String(decoding: program.output, as: UTF8.self))
            }

            func json(_ path: String, _ more: [String]) async throws -> JSON {
                let (exit, text) = try await answer(path, more)
                #expect(exit == .status(0), "\(text)")
                let body = text.firstRange(of: "\r\n\r\n").map { text[$0.upperBound...] } ?? ""
                return try JSON(parsing: Data(body.utf8))
            }

            func token(_ name: String) async throws -> String {
                let username = unique(name)
                let answer = try await json(
                    "/v1/auth/register",
                    ["--json", #"{"username":"\#(username)","password":"correct horse","name":"\#(name)"}"#])
                return try #require(answer["session"]["token"].string, "\(answer)")
            }

            func logged(_ sentence: String) async throws {
                try await eventually("\"\(sentence)\" in the log") {
                    node.program.errors.contains(sentence)
                }
            }
        }

        private static func bearer(_ token: String) -> [String] { ["--header", "Authorization: Bearer \(token)"] }

        @Test("is alive for `parley health`, as a node without TLS is; a port without a node is not")
        func health() async throws {
            let ground = try await Ground()
            let plain = try await TestNodes.shared().a
            func health(port: Int, _ settings: [String: String] = [:]) async throws -> Parley.Outcome {
                try await Parley.run(["health", "--http-port", "\(port)"], settings: settings)
            }
            let files = [
                "PARLEY_TLS_CERTIFICATE_FILE": ground.certificates.path + "/now.crt",
                "PARLEY_TLS_KEY_FILE": ground.certificates.path + "/now.key",
            ]
            let outcomes = try await [
                health(port: ground.node.address.port, files), health(port: plain.address.port),
                health(port: plain.address.port, ["PARLEY_HTTP_HOST": "0.0.0.0"]),
            ]
            for outcome in outcomes { #expect(outcome.exit == .status(0), "\(outcome.errors)") }
            try await ground.node.stop()
            let stopped = try await health(port: ground.node.address.port, files)
            #expect(stopped.exit == .status(1))
            #expect(stopped.errors.hasPrefix("parley: the node at https://127.0.0.1:"), "\(stopped.errors)")
        }

        @Test("serves calls, waiting polls and event streams over TLS 1.2 and 1.3, and nothing unencrypted")
        func serves() async throws {
            let ground = try await Ground()
            #expect(ground.node.readyLine.contains("https://"))
            // Two clients that never finish their handshake, checked at the end. Then one that sends no TLS.
            let stalled = [Connection(ground.node.address), Connection(ground.node.address)]
            try await stalled[0].write(Data([0x16, 3, 1, 0, 200, 1, 0]))
            try await stalled[1].write(Data([0x16]))
            let inClear = Connection(ground.node.address)
            try await inClear.write(Data("GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
            await #expect(throws: Connection.Failure.self) { try await inClear.receive() }
            for version in ["1.2", "1.3"] {
                let (exit, text) = try await ground.answer(
                    "/health/live", ["--tlsv\(version)", "--tls-max", version, "--http2"])
                #expect(exit == .status(0) && text.hasPrefix("HTTP/1.1 200 "), "\(text)")
                #expect(text.contains("Strict-Transport-Security: max-age=31536000\r\n"))
            }
            let old = try await ground.answer("/health/live", ["--tls-max", "1.1", "--ciphers", "ALL:@SECLEVEL=0"])
            #expect(old.exit != .status(0), "\(old.text)")
            try await converses(ground)
            // The timeout of the handshake is the header timeout.
            for connection in stalled { #expect(try await connection.receiveEnd()) }
            try await ground.node.stop()
        }

        private func converses(_ ground: Ground) async throws {
            let ann = Self.bearer(try await ground.token("ann"))
            let thread = try #require(
                try await ground.json("/v1/threads", ann + ["--json", #"{"kind":"group","title":"T"}"#])["id"].string)
            let cursor = try #require(try await ground.json("/v1/sync", ann)["cursor"].string)
            let poll = try await ground.curl("/v1/sync?wait=50&cursor=\(cursor)", ann)
            let stream = try await ground.curl(
                "/v1/sync?cursor=\(cursor)", ann + ["--no-buffer", "--header", "Accept: text/event-stream"])
            try await eventually("the stream to start") { stream.output.isEmpty ? nil : true }
            // Larger than a TLS record.
            let text = String(repeating: "x", count: 16_000)
            _ = try await ground.json(
                "/v1/threads/\(thread)/messages", ann + ["--json", #"{"payload":{"text":"\#(text)"}}"#])
            #expect(try await poll.waitForExit() == .status(0))
            #expect(String(decoding: poll.output, as: UTF8.self).contains(text))
            try await eventually("the event on the stream") {
                String(decoding: stream.output, as: UTF8.self).contains(text)
            }
            stream.send(SIGKILL)
            try await stream.waitForExit()
            let page = try await ground.answer("/v1/threads/\(thread)/messages", ann)
            #expect(page.exit == .status(0) && page.text.contains(text))
        }

        @Test("loads a new certificate without losing a connection, and keeps the old one if the new one is invalid")
        func renews() async throws {
            let ground = try await Ground()
            let ann = Self.bearer(try await ground.token("ann"))
            let cursor = try #require(try await ground.json("/v1/sync", ann)["cursor"].string)
            let poll = try await ground.curl("/v1/sync?wait=50&cursor=\(cursor)", ann)
            try await eventually("a waiting poll") {
                let (_, text) = try await ground.answer("/metrics")
                return text.contains("\nparley_polls_waiting 1")
            }
            // The key of another certificate, then a file that is not PEM: the node keeps the old pair.
            try ground.certificates.replace("now.key", by: "second.key")
            try await ground.logged("does not match the certificate")
            try ground.certificates.write("nonsense", to: "now.crt")
            try await ground.logged("is not a PEM file")
            #expect(ground.node.program.errors.contains(Self.refused))
            #expect(try await ground.answer("/health/live").exit == .status(0))
            try ground.certificates.use("second")
            try await ground.logged(Self.renewed)
            #expect(try await ground.answer("/health/live", trusting: "second").exit == .status(0))
            #expect(try await ground.answer("/health/live").exit != .status(0))
            // The earlier poll still waits, and is answered.
            #expect(poll.exit == nil)
            _ = try await ground.answer(
                "/v1/threads", trusting: "second", ann + ["--json", #"{"kind":"group","title":"T"}"#])
            #expect(try await poll.waitForExit() == .status(0))
            #expect(String(decoding: poll.output, as: UTF8.self).contains("thread.created"))
            try await ground.node.stop()
        }
    }
}
