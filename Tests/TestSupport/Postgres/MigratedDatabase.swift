// A database with the service's schema, a new one for each test that asks.
import Logging
import Postgres
import Store

extension PostgresSettings {
    /// How tests reach a database.
    package init(test conninfo: String) { self.init(conninfo: conninfo, applicationName: "parley-test") }
}

extension PostgresClient {
    package convenience init(test conninfo: String, logger: Logger = .quiet) {
        self.init(PostgresSettings(test: conninfo), logger: logger)
    }
}

extension Store.Appended {
    /// `created`, `exists`, or the code of the refusal.
    package var word: String {
        switch self {
        case .created: "created"
        case .exists: "exists"
        case .refused(let problem): problem.code.rawValue
        }
    }
}

package enum MigratedDatabase {
    /// Migrated once, then copied.
    private static let template = Task { try await make(on: try await TestCluster.shared()) }

    /// The conninfo of a new database on the shared cluster.
    package static func create() async throws -> String {
        try await TestCluster.shared().createDatabase(template: try await template.value)
    }

    /// Returns the conninfo of a new database on a cluster: a copy on the shared one, and an empty one on another, which
    /// the first node migrates.
    package static func create(on cluster: TestCluster) async throws -> String {
        try await cluster === TestCluster.shared() ? create() : cluster.createDatabase()
    }

    /// Returns the conninfo of a new database on a cluster (0.3 s). The log starts with `partitionCount` partitions of the
    /// given size, followed by the usual ones.
    package static func make(
        on cluster: TestCluster, partitionCount: Int = 0, eventsEach: Int = 10
    ) async throws -> String {
        let conninfo = try await cluster.createDatabase()
        let settings = PostgresSettings(test: conninfo)
        try await Schema.migrator.migrate(settings)
        if partitionCount > 0 {
            let partitions = (0..<partitionCount).map { number in
                let bounds = (first: number * eventsEach + 1, end: (number + 1) * eventsEach + 1)
                return "create table public.events_\(bounds.first) partition of events "
                    + "for values from (\(bounds.first)) to (\(bounds.end));"
            }
            try await Psql.run(partitions.joined(separator: "\n"), conninfo: conninfo)
        }
        let client = PostgresClient(settings, logger: .init(label: "template"))
        _ = try await Store(client).extendLog(days: 14)
        await client.shutdown()
        return conninfo
    }
}
