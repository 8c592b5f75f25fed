// Brings the database's schema up to date before anything uses it, or refuses a schema that this version can't use.
import Logging
import Postgres
import ServiceConfiguration
import Store

extension Database {
    /// Applies the missing migrations and returns their names.
    package func migrate(logger: Logger) async throws -> [String] {
        try await using { try await Schema.migrator.migrate(settings, logger: logger).applied }
    }

    /// Migrates if `mode` is `auto`, then checks the schema.
    ///
    /// - Throws: `StartError` where this version can't work with the schema.
    package func prepareSchema(_ mode: Settings.Migration, logger: Logger) async throws {
        try await using {
            if mode == .auto { _ = try await Schema.migrator.migrate(settings, logger: logger) }
            switch try await Schema.migrator.check(settings, logger: logger) {
            case .current, .newer(_, breaking: false): break
            case .empty:
                throw StartError("the database has no schema; run 'parley migrate', or set PARLEY_MIGRATE=auto.")
            case .older(let missing):
                throw StartError(
                    "the database's schema is older than this version (missing: \(missing.joined(separator: ", "))); "
                        + "run 'parley migrate', or set PARLEY_MIGRATE=auto.")
            case .newer(let unknown, breaking: true):
                throw StartError(
                    "the database's schema is newer than this version can work with "
                        + "(\(unknown.joined(separator: ", "))); run a newer parley.")
            }
        }
    }
}
