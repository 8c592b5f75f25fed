// Which database: the one that was named, or an own PostgreSQL that lives with the process.
import ServiceConfiguration
import EmbeddedPostgres
import Logging
import Postgres

/// The database of this process. `close` ends the embedded server, if it is one.
struct Database: Sendable {
    let settings: PostgresSettings
    let listenSettings: PostgresSettings
    let embedded: EmbeddedPostgres?

    static func open(_ settings: Settings, logger: Logger) async throws -> Database {
        var embedded: EmbeddedPostgres?
        let conninfo: String
        if let url = settings.databaseURL {
            conninfo = url
        } else {
            let server = try await EmbeddedPostgres.start(dataDirectory: settings.dataDirectory, logger: logger)
            embedded = server
            conninfo = server.conninfo
        }
        var postgres = PostgresSettings(conninfo: conninfo, applicationName: "parley")
        postgres.connectionCountMax = settings.databaseConnectionCountMax
        var listen = postgres
        if let url = settings.listenURL { listen = PostgresSettings(conninfo: url, applicationName: "parley-listen") }
        return Database(settings: postgres, listenSettings: listen, embedded: embedded)
    }

    func close() async {
        await embedded?.stop()
    }
}
