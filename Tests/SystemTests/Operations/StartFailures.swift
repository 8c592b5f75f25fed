// Failing starts: one clear sentence on standard error, and an exit status that supervisors understand.

import Foundation
import TestSupport
import Testing

extension Parley.Outcome {
    /// Expects that the process exited with a status other than 0, and that its last line is one sentence with these words.
    func expectRefusal(mentioning words: [String], sourceLocation: SourceLocation = #_sourceLocation) {
        guard case .status(let status) = exit, status != 0 else {
            Issue.record("\(exit): \(errors)", sourceLocation: sourceLocation)
            return
        }
        #expect(output.isEmpty, sourceLocation: sourceLocation)
        let refusal = errors.split(separator: "\n").last { !$0.isEmpty }.map(String.init) ?? ""
        #expect(refusal.hasSuffix("."), "not a sentence: \(errors)", sourceLocation: sourceLocation)
        for word in words {
            #expect(refusal.localizedStandardContains(word), "\(errors)", sourceLocation: sourceLocation)
        }
        // Traces of a Swift error, a crash or a stack.
        for trace in ["Error(", "Fatal error", "Swift/", "0x0", "Optional("] {
            #expect(!errors.contains(trace), "\(errors)", sourceLocation: sourceLocation)
        }
    }
}

extension SystemTests {
    @Suite("A failing start", .timeLimit(.minutes(2)))
    struct StartFailures {
        private func serve(
            _ database: String?, settings: [String: String] = [:], arguments: [String] = []
        ) async throws -> Parley.Outcome {
            var settings = settings.merging(["PARLEY_HTTP_PORT": "0"]) { own, _ in own }
            settings["PARLEY_DATABASE_URL"] = database
            return try await Parley.run(["serve"] + arguments, settings: settings)
        }

        @Test("reports a server that refuses connections")
        func refused() async throws {
            try await serve("postgresql://parley:secret@127.0.0.1:1/parley").expectRefusal(mentioning: [
                "127.0.0.1", "refused",
            ])
        }

        @Test("reports a wrong password without printing it")
        func wrongPassword() async throws {
            let directory = try TemporaryDirectory()
            let rules = directory.path + "/hba.conf"
            try Data("local all postgres trust\nlocal all all scram-sha-256\n".utf8).write(to: URL(filePath: rules))
            _ = chmod(rules, 0o644)
            let cluster = try await TestCluster.own(settings: ["hba_file": rules])
            let conninfo = try await cluster.createDatabase()
            try await cluster.psql("alter role parley password 'right'")
            let outcome = try await serve(conninfo + " password=hunter2")
            outcome.expectRefusal(mentioning: ["password"])
            #expect(!outcome.errors.contains("hunter2"))
            let node = try await Node.start(database: conninfo + " password=right")
            #expect(!node.program.errors.contains("right"))
            try await node.stop()
            await cluster.close()
        }

        @Test("reports a database without a function that the node needs, in words for operators")
        func damagedDatabase() async throws {
            let cluster = try await TestCluster.shared()
            let database = try await cluster.createDatabase()
            let migrated = try await Parley.run(["migrate"], settings: ["PARLEY_DATABASE_URL": database])
            #expect(migrated.exit == .status(0), "\(migrated.errors)")
            try await cluster.psql("drop function log_extend", database: database)
            let outcome = try await serve(database)
            outcome.expectRefusal(mentioning: ["the database at", "can't be used", "42883"])
            #expect(!outcome.errors.contains("Retry-After"))
        }

        @Test("reports a port that is in use")
        func takenPort() async throws {
            let nodes = try await TestNodes.shared()
            let port = "\(nodes.a.address.port)"
            try await serve(nodes.database, settings: ["PARLEY_HTTP_PORT": port]).expectRefusal(mentioning: [port])
        }

        @Test("reports all configuration mistakes at once")
        func badConfiguration() async throws {
            let settings = [
                "PARLEY_HTTP_PORT": "http", "PARLEY_MIGRATE": "maybe", "PARLEY_DRAIN_SECONDS": "900",
                "PARLEY_LOG_FORMAT": "xml",
            ]
            let outcome = try await serve("mysql://root:hunter2@127.0.0.1/db", settings: settings)
            #expect(outcome.exit != .status(0))
            for word in settings.keys + ["PARLEY_DATABASE_URL"] {
                #expect(outcome.errors.contains(word), "\(outcome.errors)")
            }
            #expect(!outcome.errors.contains("hunter2"))
        }
    }
}
