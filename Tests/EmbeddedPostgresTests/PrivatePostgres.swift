// The life of the embedded server on a directory of its own. What a killed Parley leaves: see KilledParleyTests.

import Foundation
import Linux
import TestSupport
import Testing

@testable import EmbeddedPostgres

@Suite("The embedded PostgreSQL", .timeLimit(.minutes(1)))
struct PrivatePostgres {
    let temporary: TemporaryDirectory
    var directory: String { temporary.path + "/data" }

    init() throws { temporary = try TemporaryDirectory() }

    @Test("creates a cluster at the first start and finds the data at the second")
    func twice() async throws {
        let first = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        try await Psql.run("create table note (text text); insert into note values ('kept')", conninfo: first.conninfo)
        await first.stop()
        let second = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        #expect(try await Psql.run("select * from note", conninfo: second.conninfo) == "kept")
        await second.stop()
    }

    @Test("is UTF-8 by Unicode's cases and by byte order, with checksums and durable")
    func settings() async throws {
        let postgres = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        let sql = """
            show server_encoding; select lower('ÄÖ') , 'a' > 'B'; show data_checksums; show fsync;
            show max_connections; show listen_addresses; select current_user; select rolsuper from pg_roles
            where rolname = current_user
            """
        let found = try await Psql.run(sql, conninfo: postgres.conninfo)
        #expect(
            found.split(separator: "\n", omittingEmptySubsequences: false)
                == ["UTF8", "äö|t", "on", "on", "200", "", "parley", "f"])
        await postgres.stop()
    }

    @Test("reads the operator's local.conf last")
    func localSettings() async throws {
        let first = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        await first.stop()
        let file = directory + "/postgres/local.conf"
        try Data("max_connections = 77\n".utf8).write(to: URL(filePath: file))
        _ = chmod(file, 0o644)
        let second = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        #expect(try await Psql.run("show max_connections", conninfo: second.conninfo) == "77")
        await second.stop()
    }

    @Test("refuses a second Parley on the same directory until the first has stopped")
    func secondParley() async throws {
        let first = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        let error = await #expect(throws: EmbeddedPostgresError.self) {
            try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        }
        #expect(error?.reason == .inUse)
        #expect(error?.description.contains("process \(getpid())") == true)
        await first.stop()
        let second = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        await second.stop()
    }

    @Test("ends busy sessions when it stops")
    func busySession() async throws {
        let postgres = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        let busy = Task { try await Psql.run("select pg_sleep(600)", conninfo: postgres.conninfo) }
        let watch = "select count(*) from pg_stat_activity where query like 'select pg_sleep%' and state = 'active'"
        try await eventually("the session is busy") { try await Psql.run(watch, conninfo: postgres.conninfo) == "1" }
        // If the session ended only with the server's immediate stop, that would come after the test's time limit.
        await postgres.stop(waitMax: .seconds(600))
        await #expect(throws: Psql.Failure.self) { try await busy.value }
    }

    @Test("reports a server that ended by itself, and restarts it")
    func serverDies() async throws {
        let postgres = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        try await Psql.run(
            "create table note (text text); insert into note values ('kept')", conninfo: postgres.conninfo)
        async let reason = postgres.waitUntilExit()
        kill(try #require(try PostmasterFile.read(dataDirectory: directory + "/postgres")).pid, SIGKILL)
        #expect(try await reason == "was ended by signal 9")
        try await postgres.restart()
        #expect(try await Psql.run("select * from note", conninfo: postgres.conninfo) == "kept")
        await postgres.stop()
        #expect(try await postgres.waitUntilExit() == "exited with status 0")
    }

    @Test("stops waiting for the server's end when cancelled")
    func cancelledWait() async throws {
        let postgres = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        let wait = Task { try await postgres.waitUntilExit() }
        wait.cancel()
        await #expect(throws: CancellationError.self) { try await wait.value }
        await postgres.stop()
    }

    @Test("runs in a separate session, so that the terminal's Ctrl-C does not reach it")
    func session() async throws {
        let postgres = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        let pid = try #require(try PostmasterFile.read(dataDirectory: directory + "/postgres")).pid
        #expect(getsid(pid) == pid)
        await postgres.stop()
    }

    @Test("admits no other user", .enabled(if: geteuid() == 0 && SystemAccount.named("nobody") != nil))
    func otherUser() async throws {
        let postgres = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        let error = await #expect(throws: Psql.Failure.self) {
            try await Psql.run("select 1", conninfo: postgres.conninfo, account: SystemAccount.named("nobody"))
        }
        #expect(error?.description.contains("Permission denied") == true)
        await postgres.stop()
    }

    @Test(
        "works under a path that is too long for a socket, or that libpq cannot quote",
        arguments: [
            String(repeating: "long-", count: 30), "a, b'c\\d",
        ])
    func awkwardPath(name: String) async throws {
        let directory = temporary.path + "/" + name
        let postgres = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        #expect(try await Psql.run("select 1", conninfo: postgres.conninfo) == "1")
        #expect(!postgres.conninfo.contains(name))
        await postgres.stop()
        let again = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        #expect(again.conninfo == postgres.conninfo)
        await again.stop()
    }
}
