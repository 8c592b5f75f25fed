// What `send` is compared with: the usual way to keep messages, one transaction each, driven by pgbench.
import EmbeddedPostgres
import Foundation
import Logging
import Postgres

/// A database of its own on the nodes' PostgreSQL, for one run.
struct OneTransactionAMessage: Sendable {
    private let conninfo: String
    private let name: String
    private let directory: String

    /// Makes database and tables. The role must have the right to create databases.
    static func prepare(conninfo: String) async throws -> OneTransactionAMessage {
        let name = "parley_bench_\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
        try await execute("create database \(name)", conninfo)
        var template = Array("/tmp/parley-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemFailure(code: errno) }
        let directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let baseline = OneTransactionAMessage(conninfo: conninfo, name: name, directory: directory)
        do {
            try EmbeddedBaseline.transaction.write(toFile: baseline.script, atomically: true, encoding: .utf8)
            let psql = try PostgresBinaries.find().psql
            _ = try await baseline.run(
                psql, ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", baseline.target], input: EmbeddedBaseline.tables)
        } catch {
            await baseline.remove()
            throw error
        }
        return baseline
    }

    /// Messages a second, by so many clients at once.
    func messagesPerS(clients: Int, seconds: Int) async throws -> Double {
        let output = try await run(
            try PostgresBinaries.find().directory + "/pgbench",
            ["-n", "-M", "prepared", "-c", "\(clients)", "-j", "2", "-T", "\(seconds)", "-f", script, target])
        let line = output.split(separator: "\n").first { $0.hasPrefix("tps = ") }
        guard let rate = line.flatMap({ Double($0.dropFirst(6).prefix { $0 != " " }) }) else {
            throw BenchFailure("pgbench gave no figure: \(output)")
        }
        return rate
    }

    /// Drops the database. A failure is only said: the figures are there already.
    func remove() async {
        do {
            try await Self.execute("drop database if exists \(name) with (force)", conninfo)
            try FileManager.default.removeItem(atPath: directory)
        } catch {
            Progress.say("the baseline's database \(name) can't be removed: \(error)")
        }
    }

    private var script: String { directory + "/transaction" }

    /// Of two databases in one connection string, libpq takes the latter.
    private var target: String {
        guard conninfo.hasPrefix("postgres://") || conninfo.hasPrefix("postgresql://") else {
            return conninfo + " dbname=\(name)"
        }
        return conninfo + (conninfo.contains("?") ? "&" : "?") + "dbname=\(name)"
    }

    private func run(_ program: String, _ arguments: [String], input: String = "") async throws -> String {
        let command = Command(executable: program, arguments: arguments, signalAtOurDeath: "TERM")
        let (status, output) = try await command.run(input: input)
        guard status == 0 else { throw BenchFailure("\(program) failed: \(output)") }
        return output
    }

    private static func execute(_ sql: String, _ conninfo: String) async throws {
        let client = PostgresClient(
            PostgresSettings(conninfo: conninfo, applicationName: "parley-bench"), logger: Logger(label: "bench"))
        do {
            _ = try await client.query(Statement("bench_database", sql))
        } catch {
            await client.shutdown()
            throw BenchFailure("\(sql): \(error)")
        }
        await client.shutdown()
    }
}
