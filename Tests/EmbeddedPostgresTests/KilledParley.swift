// The files and processes that a killed Parley leaves, and how the next one handles them.

import Foundation
import Linux
import TestSupport
import Testing

@testable import EmbeddedPostgres

@Suite("After a kill -9 the embedded PostgreSQL", .timeLimit(.minutes(1)))
struct KilledParley {
    let temporary: TemporaryDirectory
    var directory: String { temporary.path + "/data" }
    var cluster: String { directory + "/postgres" }

    init() throws { temporary = try TemporaryDirectory() }

    @Test("has all committed data, and its server has ended or was replaced")
    func killed() async throws {
        let directory = directory
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = directory as String] in
            let postgres = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
            try await Psql.run(
                "create table note (text text); insert into note values ('kept')", conninfo: postgres.conninfo)
            kill(getpid(), SIGKILL)
        }
        let postgres = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        #expect(try await Psql.run("select * from note", conninfo: postgres.conninfo) == "kept")
        await postgres.stop()
    }

    @Test("stops by itself")
    func goesDown() async throws {
        let directory = directory
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = directory as String] in
            _ = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
            kill(getpid(), SIGKILL)
        }
        try await eventually("PostgreSQL shuts down") {
            try String(contentsOfFile: directory + "/postgres.log", encoding: .utf8)
                .contains("database system is shut down")
        }
    }

    @Test("is created again when Parley was killed while it created the first one")
    func whileMaking() async throws {
        let directory = directory
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = directory as String] in
            async let postgres = EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
            try await eventually("the first file of the cluster") {
                let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
                return names.contains {
                    $0.hasPrefix("postgres.new-")
                        && FileManager.default.fileExists(atPath: "\(directory)/\($0)/base")
                }
            }
            kill(getpid(), SIGKILL)
            _ = try await postgres
        }
        #expect(!FileManager.default.fileExists(atPath: cluster))
        let postgres = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        #expect(try await Psql.run("select 1", conninfo: postgres.conninfo) == "1")
        await postgres.stop()
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(Set(names) == ["parley.lock", "postgres", "postgres.log", "socket"])
    }

    @Test("replaces a server that still runs, and waits for one that is going down", arguments: [false, true])
    func leftover(isGoingDown: Bool) async throws {
        let first = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        await first.stop()
        let leftover = try await server()
        try await eventually("PostgreSQL is ready") {
            try PostmasterFile.read(dataDirectory: cluster)?.status == .ready
        }
        if isGoingDown { leftover.send(SIGINT) }
        let second = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        #expect(!leftover.isRunning)
        #expect(try await Psql.run("select 1", conninfo: second.conninfo) == "1")
        await second.stop()
    }

    @Test("passes over a postmaster.pid whose process is gone")
    func stalePidFile() async throws {
        let pid = try await stale {
            $0.send(SIGKILL); _ = await $0.waitForExit(atMost: .seconds(5))
        }
        let postgres = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        #expect(try PostmasterFile.read(dataDirectory: cluster)?.pid != pid)
        await postgres.stop()
    }

    @Test("passes over a postmaster.pid whose number another process of its user has now")
    func reusedPid() async throws {
        let processes = Processes()
        _ = try await stale { await processes.keep($0) }
        let postgres = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        #expect(try await Psql.run("select 1", conninfo: postgres.conninfo) == "1")
        #expect(await processes.areRunning)
        await postgres.stop()
        await processes.end()
    }

    private let account = geteuid() == 0 ? SystemAccount.named("postgres") ?? SystemAccount.named("nobody") : nil

    /// Starts a server on the cluster as an earlier Parley would have left it.
    private func server() async throws -> ChildProcess {
        let command = Program(
            executable: try PostgresBinaries.find().postgres, arguments: ["-D", cluster], account: account,
            signalAtOurDeath: "QUIT")
        let log = try ServerLog.open(directory + "/postgres.log")
        return try await ChildProcess.start(command, input: log.null, output: log.file)
    }

    /// Makes a cluster that was not shut down, with a postmaster.pid that names some other process.
    private func stale(_ then: (ChildProcess) async -> Void) async throws -> pid_t {
        let first = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        let file = cluster + "/postmaster.pid"
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        kill(try #require(pid_t(lines[0])), SIGKILL)
        _ = try await first.waitUntilExit()
        await first.stop()
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        let sleep = Program(executable: "/bin/sleep", arguments: ["100"], account: account, signalAtOurDeath: "KILL")
        let other = try await ChildProcess.start(sleep, input: null, output: null)
        try Files.write(
            (["\(other.pid)"] + lines.dropFirst()).joined(separator: "\n"), to: file, mode: 0o600, owner: account)
        let socketLock = directory + "/socket/.s.PGSQL.5432.lock"
        try Files.write("\(other.pid)\n", to: socketLock, mode: 0o600, owner: account)
        await then(other)
        return other.pid
    }
}

private actor Processes {
    private var kept: [ChildProcess] = []

    var areRunning: Bool { kept.allSatisfy(\.isRunning) }

    func keep(_ process: ChildProcess) { kept.append(process) }

    func end() { kept.forEach { $0.send(SIGKILL) } }
}
