// A database as a released version left it, in Tests/Upgrades, and what a test looks for in it.

import Foundation
import TestSupport
import Testing

/// `VERSION.dump` and `VERSION.json`, which `Tests/Upgrades/make-dump.py` wrote.
struct KeptDatabase: Sendable {
    static let folder = "Tests/Upgrades"

    /// Its number, such as 0.1.0.
    let version: String
    /// Without extension.
    private let path: String

    /// The databases of all releases, the oldest first.
    static func released() throws -> [KeptDatabase] {
        try FileManager.default.contentsOfDirectory(atPath: Repository.file(folder).path)
            .filter { $0.hasSuffix(".dump") }.map { String($0.dropLast(".dump".count)) }
            .sorted { $0.compare($1, options: .numeric) == .orderedAscending }
            .map { KeptDatabase(version: $0, path: Repository.file("\(folder)/\($0)").path) }
    }

    /// Makes the database of an executable (10 s).
    static func make(by executable: String, in directory: TemporaryDirectory) throws -> KeptDatabase {
        try Tool.run([Repository.file("\(folder)/make-dump.py").path, executable, directory.path])
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        let name = try #require(names.first { $0.hasSuffix(".dump") })
        let version = String(name.dropLast(".dump".count))
        return KeptDatabase(version: version, path: directory.path + "/" + version)
    }

    var facts: JSON { get throws { try JSON(parsing: Data(contentsOf: URL(filePath: path + ".json"))) } }

    /// Creates a database from the dump, and returns its conninfo. The service's role owns all that is in it.
    func restore() async throws -> String {
        let cluster = try await TestCluster.shared()
        let database = try await cluster.createDatabase()
        let name = TestCluster.databaseName(database)
        try Tool.run([
            "pg_restore", "--exit-on-error", "--no-owner", "--role=parley", "-d",
            cluster.superuserConninfo(database: name), path + ".dump",
        ])
        return database
    }
}
