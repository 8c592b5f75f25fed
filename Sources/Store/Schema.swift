// The schema that this executable carries.
import Postgres

/// `sql/migrations` and `sql/functions`, embedded by the build.
package enum Schema {
    /// Upgrades a database to this version's schema, or compares.
    package static var migrator: Migrator {
        Migrator(
            migrations: EmbeddedSQL.migrations.map(Migrator.SQLFile.init),
            functions: EmbeddedSQL.functions.map(Migrator.SQLFile.init))
    }
}
