// Migrations never change after a release: databases have their checksums.
import Foundation
import Postgres
import Store
import TestSupport
import Testing

@Suite("The migrations", .timeLimit(.minutes(1)))
struct MigrationsOfReleases {
    private struct Applied: Decodable, Hashable {
        var version: Int
        var name: String
        var checksum: String
    }

    private struct Facts: Decodable {
        var migrations: [Applied]
    }

    private func applied() async throws -> [Applied] {
        let cluster = try await TestCluster.shared()
        let database = try await cluster.createDatabase()
        try await Schema.migrator.migrate(PostgresSettings(test: database))
        let rows = try await cluster.psql(
            "select json_agg(json_build_object('version', version, 'name', name, 'checksum', checksum) order by version) "
                + "from schema_migrations", database: database)
        return try JSONDecoder().decode([Applied].self, from: Data(rows.utf8))
    }

    @Test("have the numbers 1, 2, 3, … without a gap")
    func numbers() async throws {
        let migrations = try await applied()
        #expect(migrations.map(\.version) == Array(1...migrations.count))
    }

    @Test("of a release keep their number, name and text; later ones have higher numbers")
    func released() async throws {
        let now = try await applied()
        let folder = Repository.file("Tests/Upgrades")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasSuffix(".json") {
            let facts = try Data(contentsOf: folder.appending(path: name))
            let then = try JSONDecoder().decode(Facts.self, from: facts).migrations
            #expect(!then.isEmpty)
            #expect(
                Array(now.prefix(then.count)) == then,
                "\(name) has these migrations: write a new one instead of a change in an old one.")
        }
    }
}
