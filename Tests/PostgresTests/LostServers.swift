// Connections and servers that go away under load, stop answering, or refuse.

import Glibc
import Postgres
import Synchronization
import TestSupport
import Testing

@Suite("A client that loses its server", .timeLimit(.minutes(1)))
struct LostServers {
    /// The outcome of a load: each statement was answered, or failed with an allowed error.
    final class Tally: Sendable {
        let answered = Atomic(0)
        let lost = Atomic(0)
        let unavailable = Atomic(0)
        let isOver = Atomic(false)

        /// Inserts increasing numbers until stopped. Records which inserts were acknowledged.
        func load(_ client: PostgresClient, tasks: Int) async throws -> [Int64] {
            let insert = Statement("mark", "insert into marks values ($1::int8)")
            return try await withThrowingTaskGroup(of: [Int64].self) { group in
                for task in 0..<tasks {
                    group.addTask {
                        var number = Int64(task) << 32
                        var acknowledged: [Int64] = []
                        while !self.isOver.load(ordering: .relaxed) {
                            number += 1
                            do {
                                _ = try await client.query(insert, [.int8(number)])
                                acknowledged.append(number)
                                self.answered.add(1, ordering: .relaxed)
                            } catch PostgresError.connectionLost {
                                self.lost.add(1, ordering: .relaxed)
                            } catch PostgresError.unavailable {
                                self.unavailable.add(1, ordering: .relaxed)
                            }
                        }
                        return acknowledged
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
        }

        /// Returns how many of these numbers are missing in the table.
        static func missingCount(of numbers: [Int64], _ client: PostgresClient) async throws -> Int64? {
            try await client.run(
                "select count(*) from unnest($1::int8[]) n where not exists (select from marks where mark = n)",
                [.int8s(numbers)]
            ).first?.int8(0)
        }

        /// Waits for some more answers than there are now.
        func moves() async throws {
            let before = answered.load(ordering: .relaxed)
            try await eventually("100 more answers") { self.answered.load(ordering: .relaxed) > before + 100 }
        }
    }

    @Test(
        "fails statements in flight when connections are terminated under load, loses nothing acknowledged, and continues"
    )
    func terminated() async throws {
        let cluster = try await TestCluster.shared()
        try await withClient { client in
            let database = try await client.run("select current_database()::text").first?.text(0) ?? ""
            try await client.run("create table marks (mark int8 primary key)")
            let tally = Tally()
            async let acknowledged = tally.load(client, tasks: 16)
            for _ in 0..<5 {
                try await tally.moves()
                try await cluster.psql(
                    "select pg_terminate_backend(pid) from pg_stat_activity where datname = '\(database)'")
            }
            try await tally.moves()
            tally.isOver.store(true, ordering: .relaxed)
            #expect(try await Tally.missingCount(of: try await acknowledged, client) == 0)
            #expect(client.statistics.totals.lostCount > 0)
            #expect(tally.unavailable.load(ordering: .relaxed) == 0)
        }
    }

    @Test("answers or fails everything when the server crashes and starts again under load, then works again")
    func restarted() async throws {
        let cluster = try await TestCluster.own()
        let conninfo = try await cluster.createDatabase()
        try await withClient(conninfo: conninfo, { $0.waitMax = .milliseconds(200) }) { client in
            // Not through the client, which may not have reconnected yet.
            try await Psql.run("create table marks (mark int8 primary key)", conninfo: conninfo)
            let tally = Tally()
            async let acknowledged = tally.load(client, tasks: 16)
            try await tally.moves()
            await cluster.stop(.immediate)
            try await eventually("statements fail") { tally.unavailable.load(ordering: .relaxed) > 16 }
            try await cluster.start()
            try await tally.moves()
            tally.isOver.store(true, ordering: .relaxed)
            #expect(try await Tally.missingCount(of: try await acknowledged, client) == 0)
        }
        await cluster.close()
    }

    @Test("keeps statements waiting while the server restarts, if the restart is quick enough")
    func waitsForRestart() async throws {
        let cluster = try await TestCluster.own()
        try await withClient(conninfo: try await cluster.createDatabase(), { $0.waitMax = .seconds(20) }) { client in
            try await client.run("select 1")
            await cluster.stop(.fast)
            try await eventually("no connection is left") { client.statistics.connectionCount == 0 }
            async let answer = client.run("select 42")
            try await eventually("a failed connection") { client.statistics.totals.connectFailureCount > 0 }
            try await cluster.start()
            #expect(try await answer.first?.int4(0) == 42)
        }
        await cluster.close()
    }

    @Test("drops a connection whose server stopped answering, fails its statements, and uses another")
    func stalled() async throws {
        try await withClient(
            connections: 1,
            {
                // They apply to the answered statements, too.
                $0.statementTimeout = .seconds(1)
                $0.stallGrace = .seconds(1)
            }
        ) { client in
            let processID = try await client.run("select pg_backend_pid()").first?.int4(0) ?? 0
            kill(processID, SIGSTOP)
            defer { kill(processID, SIGCONT) }
            await #expect(throws: PostgresError.connectionLost(wasSent: true)) { try await client.run("select 1") }
            #expect(try await client.run("select 2").first?.int4(0) == 2)
        }
    }

    @Test("shuts down in bounded time though the server does not answer")
    func shutsDownStalled() async throws {
        try await withClient(connections: 1, { $0.shutdownMax = .milliseconds(100) }) { client in
            let processID = try await client.run("select pg_backend_pid()").first?.int4(0) ?? 0
            kill(processID, SIGSTOP)
            defer { kill(processID, SIGCONT) }
            async let hanging = client.run("select 1")
            try await eventually("a statement is in flight") { client.statistics.inFlightCount == 1 }
            try await bounded(.seconds(5)) { await client.shutdown() }
            do {
                _ = try await hanging
                Issue.record("a stopped server answered")
            } catch {
                #expect(error as? PostgresError == .connectionLost(wasSent: true))
            }
        }
    }

    @Test("ends at the time that was set though the server does not answer, and shuts down at once then")
    func endsStalled() async throws {
        try await withClient(connections: 1, { $0.shutdownMax = .seconds(60) }) { client in
            let processID = try await client.run("select pg_backend_pid()").first?.int4(0) ?? 0
            kill(processID, SIGSTOP)
            defer { kill(processID, SIGCONT) }
            async let hanging = client.run("select 1")
            try await eventually("a statement is in flight") { client.statistics.inFlightCount == 1 }
            client.end(by: .now + .milliseconds(100))
            do {
                _ = try await hanging
                Issue.record("a stopped server answered")
            } catch {
                #expect(error as? PostgresError == .connectionLost(wasSent: true))
            }
            await #expect(throws: PostgresError.closed) { try await client.run("select 2") }
            try await bounded(.seconds(5)) { await client.shutdown() }
        }
    }

    @Test("reports quickly that a database does not exist, a connection string is malformed, or no server listens")
    func refused() async throws {
        let conninfo = try await TestCluster.shared().conninfo(database: "no_such")
        let expected: [(String, String)] = [
            (conninfo, "database \"no_such\" does not exist"),
            ("no_such hunter2", "the connection string is malformed"),
            ("host=/nowhere", "no server listens on this Unix socket"),
            ("host=127.0.0.1 port=1", "connection refused"),
        ]
        for (conninfo, reason) in expected {
            try await withClient(conninfo: conninfo, { $0.waitMax = .milliseconds(500) }) { client in
                try await bounded(.seconds(5)) {
                    // The reason is unknown until the first attempt has failed.
                    _ = try? await client.run("select 0")
                    try await eventually("a failed connection") { client.statistics.totals.connectFailureCount > 0 }
                    await #expect(throws: PostgresError.unavailable(reason)) { try await client.run("select 1") }
                    await #expect(throws: PostgresError.unavailable(reason)) { try await client.run("select 2") }
                }
            }
        }
    }

    @Test("is logged once a minute while no server listens")
    func logged() async throws {
        let lines = LogLines()
        let change: (inout PostgresSettings) -> Void = { $0.waitMax = .milliseconds(100) }
        try await withClient(conninfo: "host=127.0.0.1 port=1", change, logger: lines.logger) { client in
            try await eventually("failed connections") {
                _ = try? await client.run("select 1")
                return client.statistics.totals.connectFailureCount > 3
            }
        }
        #expect(lines.all.count { $0.contains("cannot connect to the database") } == 1, "\(lines.all)")
    }

    @Test("does not hang on a server that accepts and sends nothing")
    func silent() async throws {
        let (listening, port) = try Sockets.listener()
        defer { close(listening) }
        try await withClient(
            conninfo: "host=127.0.0.1 port=\(port)",
            {
                $0.connectTimeout = .milliseconds(100)
                $0.waitMax = .milliseconds(300)
            }
        ) { client in
            try await bounded(.seconds(5)) {
                _ = try? await client.run("select 0")
                try await eventually("a failed connection") { client.statistics.totals.connectFailureCount > 0 }
                await #expect(throws: PostgresError.unavailable("connecting took too long")) {
                    try await client.run("select 1")
                }
            }
        }
    }
}
