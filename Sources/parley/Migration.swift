// Bringing the schema up to date, or refusing to run on one that isn't.
import Logging
import Postgres
import ServiceConfiguration
import Store

enum Migration {
    /// `parley migrate`.
    static func run(_ settings: Settings) async throws {
        let logger = Logger(label: "parley")
        let database = try await Database.open(settings, logger: logger)
        do {
            let report = try await database.using {
                try await Schema.migrator.migrate(database.settings, logger: logger)
            }
            await database.close()
            print(
                report.applied.isEmpty
                    ? "The schema is up to date." : "Applied: \(report.applied.joined(separator: ", ")).")
        } catch {
            await database.close()
            throw error
        }
    }

    /// What `serve` does first: migrates, or with `PARLEY_MIGRATE=off` only looks.
    static func prepare(_ database: Database, _ settings: Settings, logger: Logger) async throws {
        if settings.migration == .auto {
            try await Schema.migrator.migrate(database.settings, logger: logger)
        }
        switch try await Schema.migrator.check(database.settings, logger: logger) {
        case .current, .newer(_, breaking: false): break
        case .empty: throw StartError("the database has no schema; run 'parley migrate', or set PARLEY_MIGRATE=auto.")
        case .older(let missing):
            throw StartError(
                "the database's schema is older than this version (missing: \(missing.joined(separator: ", "))); "
                    + "run 'parley migrate', or set PARLEY_MIGRATE=auto.")
        case .newer(let unknown, breaking: true):
            throw StartError(
                "the database's schema is newer than this version can work with (\(unknown.joined(separator: ", "))); "
                    + "run a newer parley.")
        }
    }
}

/// Why the service can't start, as a sentence for whoever starts it.
struct StartError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The one sentence for what stopped the process.
func sentence(for error: any Error) -> String {
    let text = "\(error)"
    return text.hasSuffix(".") ? text : text + "."
}
