// Upgrades a schema. It knows files, versions and checksums, not their contents.

import Logging

/// Applies numbered migrations once each and in order, and replaceable functions whenever they changed. Several nodes
/// may do so at once: each transaction locks `schema_migrations` and then checks what is done.
package struct Migrator: Sendable {
    package struct SQLFile: Sendable, Equatable {
        package let name: String
        package let text: String

        package init(name: String, text: String) {
            self.name = name
            self.text = text
        }
    }

    private let migrations: [SQLFile]
    private let functions: [SQLFile]

    /// - Parameters:
    ///   - migrations: like `0001_init.sql`, in any order, each headed by `-- locks:`, `-- length:` and
    ///     `-- breaking: yes|no`.
    ///   - functions: `create or replace function …`, applied in the order of their names.
    package init(migrations: [SQLFile], functions: [SQLFile]) {
        self.migrations = migrations
        self.functions = functions.sorted { $0.name < $1.name }
    }

    /// Applies what is missing: each migration in one transaction with its row in `schema_migrations`, then the
    /// functions in one transaction if their set differs from the last one applied. A compatible schema of a newer
    /// release is not changed: its functions are newer.
    /// - Throws: `MigrationError`, `PostgresError`, `CancellationError`. What was committed before stays.
    @discardableResult
    package func migrate(
        _ settings: PostgresSettings, logger: Logger = Logger(label: "postgres.migrator")
    ) async throws -> MigrationReport {
        try await inSession(settings, logger) { session, migrations in
            var report = MigrationReport()
            // One line for all of them, also if a later one fails.
            defer {
                if !report.applied.isEmpty {
                    let names = report.applied.joined(separator: ", ")
                    logger.notice("the schema was upgraded", metadata: ["migrations": .string(names)])
                }
            }
            while true {
                let (applied, isNewer) = try session.applyNext(migrations)
                guard let applied else {
                    report.functionsReplaced = try !isNewer && session.replaceFunctions(functions)
                    return report
                }
                report.applied.append(applied)
            }
        }
    }

    /// Compares without changing or locking anything.
    /// - Throws: as `migrate`.
    package func check(
        _ settings: PostgresSettings, logger: Logger = Logger(label: "postgres.migrator")
    ) async throws -> SchemaState {
        try await inSession(settings, logger) { session, migrations in
            let applied = try session.applied()
            guard !applied.isEmpty else { return .empty }
            let plan = try MigrationPlan(migrations, applied: applied)
            guard !plan.isBroken else { return .newer(unknown: plan.unknown.map(\.name), breaking: true) }
            var missing = plan.missing.map(\.name)
            if plan.unknown.isEmpty, try session.functionsDiffer(functions) { missing.append("functions") }
            guard missing.isEmpty else { return .older(missing: missing) }
            guard plan.unknown.isEmpty else { return .newer(unknown: plan.unknown.map(\.name), breaking: false) }
            return .current
        }
    }

    private func inSession<Value: Sendable>(
        _ settings: PostgresSettings, _ logger: Logger,
        _ body: @escaping @Sendable (MigrationSession, [MigrationFile]) throws -> Value
    ) async throws -> Value {
        let migrations = try MigrationPlan.read(migrations)
        do {
            return try await onThread("pg-migrate") { stop in
                let session = try MigrationSession(settings, logger: logger, stop: stop)
                return try body(session, try session.withChecksums(migrations))
            }
        } catch PostgresError.closed {
            // Only cancellation stops a session.
            throw CancellationError()
        } catch PostgresError.server(let error) where error.sqlState == "55P03" {
            throw MigrationError.lockTimedOut(seconds: MigrationSession.lockSeconds)
        }
    }
}
