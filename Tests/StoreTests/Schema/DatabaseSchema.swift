// The schema that the migrations make, compared with the dump in sql/schema.sql.
import Foundation
import Postgres
import Store
import TestSupport
import Testing

@Suite("The schema", .timeLimit(.minutes(1)))
struct DatabaseSchema {
    private static let directory = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "../../../sql").standardizedFileURL
    private static let file = directory.appending(path: "schema.sql")

    /// `make schema` writes the file. After a change of the migrations this test fails until then.
    @Test("equals sql/schema.sql")
    func dump() async throws {
        let database = try await TestCluster.shared().createDatabase()
        try await Schema.migrator.migrate(PostgresSettings(test: database))
        let dumped = try await Self.dump(database)
        if ProcessInfo.processInfo.environment["UPDATE_SCHEMA"] != nil {
            try dumped.write(to: Self.file, atomically: true, encoding: .utf8)
        }
        #expect(
            try String(contentsOf: Self.file, encoding: .utf8) == dumped, "run `make schema` and look at what changed")
    }

    @Test("is created once, and unchanged by the second migrate")
    func twice() async throws {
        let database = try await TestCluster.shared().createDatabase()
        let settings = PostgresSettings(test: database)
        let first = try await Schema.migrator.migrate(settings)
        let migrations = try FileManager.default
            .contentsOfDirectory(atPath: Self.directory.appending(path: "migrations").path)
        #expect(first.applied.count == migrations.count { $0.hasSuffix(".sql") })
        #expect(first.functionsReplaced)
        let second = try await Schema.migrator.migrate(settings)
        #expect(second.applied.isEmpty)
        #expect(!second.functionsReplaced)
        #expect(try await Schema.migrator.check(settings) == .current)
    }

    /// Of two functions with the same name and arguments, the one in the later file would silently replace the other.
    @Test("has no two functions of one name")
    func names() throws {
        let directory = Self.directory.appending(path: "functions")
        let files = try FileManager.default.subpathsOfDirectory(atPath: directory.path).filter { $0.hasSuffix(".sql") }
        let names = try files.flatMap { file in
            let text = try String(contentsOf: directory.appending(path: file), encoding: .utf8)
            return text.matches(of: /\ncreate (?:or replace )?function (\w+)\(/).map { String($0.1) }
        }
        #expect(names.count > 100)
        #expect(Dictionary(grouping: names) { $0 }.filter { $1.count > 1 }.keys.sorted() == [])
    }

    /// Tables and indexes, without functions, and without lines that differ between minor releases of PostgreSQL.
    private static func dump(_ database: String) async throws -> String {
        let bytes = try Tool.run([
            "pg_dump", "--schema-only", "--no-owner", "--no-privileges", "--table=public.*", "--table=parley.*",
            database,
        ])
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter {
            !$0.hasPrefix("--") && !$0.hasPrefix("\\") && !$0.hasPrefix("SET ") && !$0.hasPrefix("SELECT pg_catalog")
        }
        return "-- Made by `make schema` from the migrations; a test compares.\n" + lines.joined(separator: "\n") + "\n"
    }
}
