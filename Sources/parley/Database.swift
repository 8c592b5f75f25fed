// Which database: the one that was named, or an own PostgreSQL that lives with the process.
import EmbeddedPostgres
import Logging
import Postgres
import ServiceConfiguration

/// The database of this process. `close` ends the embedded server, if it is one.
struct Database: Sendable {
    /// Where it is, for people; without secrets.
    let place: String
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
        postgres.preparation =
            switch settings.preparedStatements {
            case .auto: .auto
            case .on: .always
            case .off: .never
            }
        var listen = postgres
        if let url = settings.listenURL { listen = PostgresSettings(conninfo: url, applicationName: "parley-listen") }
        let place =
            settings.databaseURL.map(ConnectionString.redacted) ?? "the data directory \(settings.dataDirectory)"
        return Database(place: place, settings: postgres, listenSettings: listen, embedded: embedded)
    }

    /// Runs what needs the database at the start, and says where it is when it can't be used.
    func using<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as PostgresError {
            throw StartError("the database at \(place) can't be used: \(error)")
        }
    }

    func close() async {
        await embedded?.stop()
    }
}
