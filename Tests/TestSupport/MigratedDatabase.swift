// A database with the service's schema, a new one for each test that asks.
import Postgres
import Store

package enum MigratedDatabase {
    /// Migrated once, then copied.
    private static let template = Task { try await make(on: try await TestCluster.shared()) }

    /// The conninfo of a new database on the shared cluster.
    package static func create() async throws -> String {
        try await TestCluster.shared().createDatabase(template: try await template.value)
    }

    /// The conninfo of a new database on a cluster of one's own (0.2 s).
    package static func make(on cluster: TestCluster) async throws -> String {
        let conninfo = try await cluster.createDatabase()
        let settings = PostgresSettings(conninfo: conninfo, applicationName: "parley-test")
        try await Schema.migrator.migrate(settings)
        let client = PostgresClient(settings, logger: .init(label: "template"))
        _ = try await Store(client).extendLog(days: 14)
        await client.shutdown()
        return conninfo
    }
}
