// `parley serve` without a database URL: an embedded PostgreSQL, in a directory that must survive everything.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("A node with an embedded PostgreSQL", .timeLimit(.minutes(2)))
    struct EmbeddedDatabase {
        let temporary: TemporaryDirectory
        var settings: [String: String] { ["PARLEY_DATA_DIR": temporary.path + "/data"] }

        init() throws {
            temporary = try TemporaryDirectory()
        }

        /// The server's process id, read from its pid file; nil while there is none, or while it is written.
        private func server() -> pid_t? {
            let file = temporary.path + "/data/postgres/postmaster.pid"
            let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
            return text.split(separator: "\n").first.flatMap { pid_t($0) }
        }

        @Test("keeps its data after kill -9 and after SIGTERM, and leaves no server running after SIGTERM")
        func restarts() async throws {
            let first = try await Node.start(database: nil, settings: settings)
            let ann = try await first.client.register("Ann")
            let bob = try await first.client.register("Bob")
            let thread = try await first.client.thread("direct", by: ann, with: [bob])
            let cursor = try await first.client.cursor(of: bob)
            let id = try await first.client.sent("kept", in: thread, as: ann)
            let before = try await first.client.get("/v1/inbox", as: bob).json
            try await first.kill()

            let second = try await Node.start(database: nil, settings: settings)
            #expect(try await second.client.history(of: thread, as: bob).map { $0["id"].string } == [id])
            let events = try await second.client.sync(bob, from: cursor).json["events"].items
            #expect(events.map { $0["data"]["id"].string } == [id])
            #expect(try await second.client.get("/v1/inbox", as: bob).json["threads"] == before["threads"])
            let running = try #require(server())
            #expect(try await second.stop().exit == .status(0))
            #expect(kill(running, 0) == -1 && errno == ESRCH, "PostgreSQL outlived its Parley")

            let third = try await Node.start(database: nil, settings: settings)
            #expect(try await third.client.say("and on", in: thread, as: bob).json["seq"] == 2)
            try await third.stop()
        }

        @Test("restarts its PostgreSQL when that is killed")
        func killedServer() async throws {
            let node = try await Node.start(database: nil, settings: settings)
            let ann = try await node.client.register("Ann")
            let running = try #require(server())
            #expect(kill(running, SIGKILL) == 0)
            try await eventually("PostgreSQL to restart") { (server() ?? running) != running }
            // The node may not have noticed the end of its connections yet.
            try await eventually("an answer from the new server") {
                try await node.client.get("/v1/users/me", as: ann).status == 200
            }
            #expect(try await node.stop().exit == .status(0))
        }
    }
}
