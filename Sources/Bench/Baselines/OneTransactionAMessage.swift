// The baseline of `send`: one transaction per message, driven by pgbench.
import Linux

/// A database of its own on the nodes' PostgreSQL, for one run.
struct OneTransactionAMessage: Sendable {
    private let conninfo: String
    private let name: String
    private let directory: ScratchDirectory

    /// Creates the database and its tables. The role must have the right to create databases.
    static func prepare(conninfo: String) async throws -> OneTransactionAMessage {
        let name = "parley_bench_\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
        let baseline = OneTransactionAMessage(conninfo: conninfo, name: name, directory: try ScratchDirectory())
        do {
            try await baseline.psql("create database \(name)", in: conninfo)
            try baseline.directory.write(EmbeddedBaseline.transaction, to: Self.script)
            try await baseline.psql(EmbeddedBaseline.tables, in: baseline.target)
        } catch {
            await baseline.remove()
            throw error
        }
        return baseline
    }

    /// Returns messages per second, sent by this many clients at once. A busy machine may need all of a short time to
    /// connect them: pgbench then has no rate, and runs again for longer.
    func messagesPerS(clients: Int, seconds: Int) async throws -> Double {
        for factor in [1, 4, 16] {
            if let rate = try await rate(clients: clients, seconds: seconds * factor) { return rate }
        }
        throw BenchFailure("pgbench printed no rate: \(directory.read("output"))")
    }

    /// Returns nil if the clients were not connected before the time was over.
    private func rate(clients: Int, seconds: Int) async throws -> Double? {
        let pgbench = try await directory.start(
            try PostgresPrograms.find("pgbench"),
            [
                "-n", "-M", "prepared", "-c", "\(clients)", "-j", "2", "-T", "\(seconds)",
                "-f", directory.file(Self.script), target,
            ], output: "output")
        let exit: ChildProcess.Exit
        do {
            exit = try await pgbench.waitForExit()
        } catch {
            await pgbench.end()
            throw error
        }
        // If pgbench loses clients, its figure is too low, and pgbench prints it all the same.
        guard exit == .status(0) else {
            throw BenchFailure("pgbench \(exit): \(directory.read("output"))")
        }
        let line = directory.read("output").split(separator: "\n").first { $0.hasPrefix("tps = ") }
        let rate = line.flatMap { Double($0.dropFirst(6).prefix { $0 != " " }) }
        return rate.flatMap { $0 > 0 ? $0 : nil }
    }

    /// Drops the database, also for a cancelled task. A failure is only reported, because the figures exist by then.
    func remove() async {
        do {
            try await psql("drop database if exists \(name) with (force)", in: conninfo)
        } catch {
            Progress.report("cannot drop the baseline's database \(name): \(error)")
        }
        directory.remove()
    }

    private static let script = "transaction.pgbench"

    /// If a connection string names two databases, libpq uses the second.
    private var target: String {
        guard conninfo.hasPrefix("postgres://") || conninfo.hasPrefix("postgresql://") else {
            return conninfo + " dbname=\(name)"
        }
        return conninfo + (conninfo.contains("?") ? "&" : "?") + "dbname=\(name)"
    }

    /// Runs to its end, cancelled or not.
    private func psql(_ sql: String, in database: String) async throws {
        let command = Program(
            executable: try PostgresPrograms.find("psql"),
            arguments: ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database], signalAtOurDeath: "TERM")
        let (status, output) = try await command.run(input: sql)
        guard status == 0 else { throw BenchFailure("psql: \(output)") }
    }
}
