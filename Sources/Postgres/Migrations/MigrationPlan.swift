// Reads migration files and decides which are missing. Pure; `MigrationSession` talks to the database.

/// A parsed migration file.
struct MigrationFile: Sendable, Equatable {
    let version: Int32
    let name: String
    let text: String
    let isBreaking: Bool
    var checksum = ""

    /// - Throws: `invalidFile` for a name that isn't like `0001_init.sql`, or a header without `locks`, `length`
    ///   or `breaking`.
    init(_ file: Migrator.SQLFile) throws(MigrationError) {
        func invalid(_ reason: String) -> MigrationError { .invalidFile(name: file.name, reason: reason) }
        let digits = file.name.prefix { $0.isASCII && $0.isNumber }
        guard let version = Int32(digits), version > 0, file.name.dropFirst(digits.count).hasPrefix("_"),
            file.name.hasSuffix(".sql")
        else { throw invalid("the name must be like 0001_init.sql") }
        let header = Self.header(file.text)
        for key in ["locks", "length", "breaking"] where header[key] == nil {
            throw invalid("the header lacks `-- \(key): …`")
        }
        switch header["breaking"]?.prefix(while: { $0.isLetter }) {
        case "yes": isBreaking = true
        case "no": isBreaking = false
        default: throw invalid("`-- breaking:` must be yes or no")
        }
        self.version = version
        name = file.name
        text = file.text
    }

    /// The `key: value` comments at the file's head, before the first line of SQL.
    private static func header(_ text: String) -> [String: String] {
        var header: [String: String] = [:]
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let line = line.drop { $0 == " " || $0 == "\t" }
            guard line.hasPrefix("--") else {
                guard line.allSatisfy(\.isWhitespace) else { break }
                continue
            }
            let parts = line.dropFirst(2).split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let key = parts[0].drop { $0 == " " }.lowercased()
            header[key] = String(parts[1].drop { $0 == " " })
        }
        return header
    }
}

/// A row of `schema_migrations`.
struct AppliedMigration: Sendable, Equatable {
    let version: Int32
    let name: String
    let checksum: String
    let isBreaking: Bool
}

/// The migrations to apply, given those that the database has.
struct MigrationPlan: Sendable, Equatable {
    /// The files are in the order to apply them.
    let missing: [MigrationFile]
    /// Applied by a newer release.
    let unknown: [AppliedMigration]

    /// - Throws: `checksumDiffers`, `outOfOrder`.
    init(_ migrations: [MigrationFile], applied: [AppliedMigration]) throws(MigrationError) {
        for migration in migrations {
            guard let row = applied.first(where: { $0.version == migration.version }) else { continue }
            guard row.checksum == migration.checksum else { throw .checksumDiffers(name: migration.name) }
        }
        missing = migrations.filter { migration in !applied.contains { $0.version == migration.version } }
        unknown = applied.filter { row in !migrations.contains { $0.version == row.version } }
        // Compared with known migrations only: a newer release's numbers are higher anyway.
        let newest = migrations.last { migration in applied.contains { $0.version == migration.version } }
        if let newest, let first = missing.first, first.version < newest.version {
            throw .outOfOrder(name: first.name, newest: newest.name)
        }
    }

    var isBroken: Bool { unknown.contains { $0.isBreaking } }

    /// - Throws: `invalidFile`, also for two files with one number.
    static func read(_ files: [Migrator.SQLFile]) throws(MigrationError) -> [MigrationFile] {
        var migrations: [MigrationFile] = []
        for file in files { migrations.append(try MigrationFile(file)) }
        migrations.sort { $0.version < $1.version }
        for (first, second) in zip(migrations, migrations.dropFirst()) where first.version == second.version {
            throw .invalidFile(name: second.name, reason: "has the same number as \(first.name)")
        }
        return migrations
    }
}
