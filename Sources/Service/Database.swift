// The database of the process: the configured one, or an embedded PostgreSQL that runs as long as the process.
import CommandLineFlags
import Domain
import EmbeddedPostgres
import Logging
import Postgres
import ServiceConfiguration
import Store

/// Where the database is. `close` stops the embedded server, if there is one.
package struct Database: Sendable {
    /// The connection string without secrets, or the data directory. For messages.
    let place: String
    let settings: PostgresSettings
    let listenSettings: PostgresSettings
    /// The replica's; nil without one.
    let replicaSettings: PostgresSettings?
    let embedded: EmbeddedPostgres?

    /// Opens the database, runs `body`, and closes the database whether or not `body` throws.
    package static func open<Value>(
        _ settings: Settings, logger: Logger, _ body: (Database) async throws -> Value
    ) async throws -> Value {
        let database = try await open(settings, logger: logger)
        do {
            let value = try await body(database)
            await database.close()
            return value
        } catch {
            await database.close()
            throw error
        }
    }

    /// The caller closes the database.
    package static func open(_ settings: Settings, logger: Logger) async throws -> Database {
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
        let replica = settings.readURL.map { url in
            var replica = PostgresSettings(conninfo: url, applicationName: "parley-read")
            replica.preparation = postgres.preparation
            return replica
        }
        let place =
            settings.databaseURL.map(ConnectionString.redacted) ?? "the data directory \(settings.dataDirectory)"
        return Database(
            place: place, settings: postgres, listenSettings: listen, replicaSettings: replica, embedded: embedded)
    }

    package func makePools(_ configured: Settings, logger: Logger) -> DatabasePools {
        DatabasePools(
            settings, replica: replicaSettings, readTimeout: .milliseconds(configured.readTimeoutMs), logger: logger)
    }

    /// Runs a part of the start that needs the database. Its `PostgresError` or `Problem` becomes a `StartError` that
    /// names the database.
    func using<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as PostgresError {
            throw StartError("the database at \(place) can't be used: \(error)")
        } catch let problem as Problem {
            throw StartError(problem.sentence(database: "the database at \(place)"))
        }
    }

    package func close() async {
        await embedded?.stop()
    }
}
