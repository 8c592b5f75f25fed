// The schema that this executable carries.
import Postgres

/// `sql/migrations` and `sql/functions` as they were when this was built.
package enum Schema {
    /// Brings a database to this version's schema, or compares.
    package static var migrator: Migrator {
        Migrator(
            migrations: EmbeddedSQL.migrations.map(Migrator.SQLFile.init),
            functions: EmbeddedSQL.functions.map(Migrator.SQLFile.init), lockKey: 7_266_000)
    }
}
