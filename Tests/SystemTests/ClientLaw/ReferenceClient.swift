// The Python reference client: against the client vectors, and against nodes that fail.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("The reference client in Python", .timeLimit(.minutes(5)))
    struct ReferenceClient {
        @Test("replays all client vectors")
        func vectors() async throws {
            let folder = Repository.file("Tests/ClientVectors")
            let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            let vectors = files.map(\.path).filter { $0.hasSuffix(".json") }
            try #require(vectors.count >= 10)
            let program = try await start("replay.py", vectors.sorted())
            let exit = try await program.waitForExit(within: .seconds(60))
            #expect(exit == .status(0), "\(String(decoding: program.output, as: UTF8.self))\(program.errors)")
        }

        @Test("shows what a fresh inbox has, after nodes were killed and PostgreSQL was restarted")
        func faults() async throws {
            let cluster = try await StoppableCluster.running()
            let log = try await ShortLog.make(on: cluster)
            let nodes = try await RestartableNodes.start(2, on: log.conninfo)
            let directory = try TemporaryDirectory()
            let end = directory.path + "/end"
            let addresses = nodes.addresses.map(\.description).joined(separator: ",")
            let program = try await start("live.py", ["--nodes", addresses, "--until", end])
            try await eventually("the clients to start", within: .seconds(60)) {
                try #require(program.exit == nil, "\(program.errors)")
                return program.output.starts(with: Data("started".utf8)) ? true : nil
            }
            for victim in [0, 1] {
                try await nodes[victim].waitForMoreMessages(20)
                try await nodes.kill(victim)
                // The clients of the killed node have gone to the other one.
                try await nodes[1 - victim].waitForMoreMessages(20)
                try await nodes.restart(victim)
            }
            await cluster.stop(.immediate)
            try await eventually("calls that fail without PostgreSQL", every: .milliseconds(50)) {
                try await nodes[0].count(of: "parley_http_requests_total", #"operation="sendMessage",status="5xx""#) > 0
            }
            try await cluster.start()
            try await nodes.waitUntil(ready: true)
            // The oldest events are gone then: the device that was offline has to reload.
            try await eventually("a part of the log trimmed", within: .seconds(60), every: .milliseconds(100)) {
                try await log.trim() > 0
            }
            try Data().write(to: URL(filePath: end))
            let exit = try await program.waitForExit(within: .seconds(180))
            let lines = String(decoding: program.output, as: UTF8.self).split(separator: "\n")
            let report = try JSON(parsing: Data((lines.last ?? "").utf8))
            #expect(exit == .status(0), "\(report)\n\(program.errors)")
            #expect(report["differences"] == [])
            // The run proves something only if all this has happened.
            #expect(report["sent"].int ?? 0 > 100, "\(report)")
            #expect(report["reloads"].int ?? 0 > 0, "\(report)")
            #expect(report["restarts"].int ?? 0 > 0, "\(report)")
            #expect(report["statuses"]["0"].int ?? 0 > 0, "\(report)")
            try await nodes.stopAll()
        }

        private func start(_ name: String, _ arguments: [String]) async throws -> TestProcess {
            let file = Repository.file("Tests/ClientVectors/\(name)").path
            return try await TestProcess.start(["/usr/bin/python3", "-B", file] + arguments)
        }
    }
}

extension Node {
    /// Waits until clients have sent `count` messages more through this node.
    fileprivate func waitForMoreMessages(_ count: Int) async throws {
        let (name, labels) = ("parley_http_requests_total", #"operation="sendMessage",status="2xx""#)
        let before = try await self.count(of: name, labels)
        try await eventually("\(count) more messages", within: .seconds(60), every: .milliseconds(50)) {
            try await self.count(of: name, labels) >= before + count
        }
    }
}
