// Reading migration files and deciding what is missing, without a database.

import Testing

@testable import Postgres

@Suite("A migration plan", .timeLimit(.minutes(1)))
struct MigrationPlans {
    static func file(_ name: String, breaking: String = "no") -> Migrator.SQLFile {
        Migrator.SQLFile(
            name: name,
            text: "-- What it does.\n-- locks: none\n-- length: short\n-- breaking: \(breaking)\nselect 1;\n")
    }

    func migrations(_ names: String...) throws -> [MigrationFile] {
        try MigrationPlan.read(names.map { Self.file($0) })
    }

    func applied(_ version: Int32, breaking: Bool = false, checksum: String = "") -> AppliedMigration {
        AppliedMigration(version: version, name: "\(version)_x.sql", checksum: checksum, isBreaking: breaking)
    }

    @Test("orders files by number")
    func orders() throws {
        #expect(try migrations("0010_c.sql", "0002_b.sql", "0001_a.sql").map(\.version) == [1, 2, 10])
    }

    @Test("refuses names without a number, headers without a key, and numbers used twice")
    func refusesFiles() {
        for name in ["init.sql", "0000_a.sql", "0001a.sql", "0001_a.txt", "99999999999_a.sql"] {
            #expect(throws: MigrationError.self) { try migrations(name) }
        }
        #expect(throws: MigrationError.self) { try migrations("1_a.sql", "0001_b.sql") }
        let headless = Migrator.SQLFile(name: "0001_a.sql", text: "-- locks: none\nselect 1;\n-- length: x\n")
        #expect(throws: MigrationError.invalidFile(name: "0001_a.sql", reason: "the header lacks `-- length: …`")) {
            try MigrationPlan.read([headless])
        }
        #expect(throws: MigrationError.self) { try MigrationPlan.read([Self.file("0001_a.sql", breaking: "maybe")]) }
    }

    @Test("reads which migrations are breaking")
    func readsBreaking() throws {
        let files = [Self.file("0001_a.sql", breaking: "yes, drops a column"), Self.file("0002_a.sql")]
        #expect(try MigrationPlan.read(files).map(\.isBreaking) == [true, false])
    }

    @Test("finds missing and unknown migrations")
    func compares() throws {
        let plan = try MigrationPlan(try migrations("1_a.sql", "2_b.sql"), applied: [applied(1)])
        #expect(plan.missing.map(\.version) == [2])
        #expect(plan.unknown.isEmpty && !plan.isBroken)
        let newer = try MigrationPlan(try migrations("1_a.sql"), applied: [applied(1), applied(2, breaking: true)])
        #expect(newer.missing.isEmpty && newer.isBroken)
    }

    @Test("refuses a file that changed after it was applied, and a gap below the newest")
    func refusesHistory() throws {
        #expect(throws: MigrationError.checksumDiffers(name: "1_a.sql")) {
            try MigrationPlan(try migrations("1_a.sql"), applied: [applied(1, checksum: "other")])
        }
        #expect(throws: MigrationError.outOfOrder(name: "1_a.sql", newest: "2_b.sql")) {
            try MigrationPlan(try migrations("1_a.sql", "2_b.sql"), applied: [applied(2)])
        }
    }
}
