// The migrator's reports and errors.

/// The changes that `migrate` made.
package struct MigrationReport: Sendable, Equatable {
    /// Names of the migrations that this call applied, in order.
    package var applied: [String] = []
    /// Whether the functions were applied again, because the set differed from the one in the database.
    package var functionsReplaced = false

    package init(applied: [String] = [], functionsReplaced: Bool = false) {
        self.applied = applied
        self.functionsReplaced = functionsReplaced
    }
}

/// How the database's schema relates to this binary.
package enum SchemaState: Sendable, Equatable {
    case current
    /// `migrate` would apply these; "functions" stands for the set of functions.
    case older(missing: [String])
    /// A newer release migrated it. If `breaking`, this release must not run on it.
    case newer(unknown: [String], breaking: Bool)
    /// No migration was ever applied.
    case empty
}

/// Why a schema could not be migrated or checked. Connection errors are thrown as `PostgresError`.
package enum MigrationError: Error, Equatable {
    /// The file itself is wrong; nothing was sent.
    case invalidFile(name: String, reason: String)
    /// The file was changed after it had been applied.
    case checksumDiffers(name: String)
    /// A file was not applied, although one with a higher number was.
    case outOfOrder(name: String, newest: String)
    /// The database has breaking migrations of a newer release.
    case newer(unknown: [String])
    /// PostgreSQL refused the file; it had no effect.
    case failed(name: String, line: Int?, ServerError)
    /// The file ended its transaction, or COMMIT was answered with ROLLBACK.
    case notOneTransaction(name: String)
    /// A lock was held for longer than this, by a migrating node or another session.
    case lockTimedOut(seconds: Int)
}

extension MigrationError: CustomStringConvertible {
    /// For operators: shows the server's message, which is about Parley's own SQL, but not its detail.
    package var description: String {
        switch self {
        case .invalidFile(let name, let reason): "\(name): \(reason)"
        case .checksumDiffers(let name):
            "\(name) was changed after it had been applied; write a new migration instead"
        case .outOfOrder(let name, let newest):
            "\(name) was never applied, but \(newest) was: give it a higher number"
        case .newer(let unknown):
            "the database was migrated by a newer release (\(unknown.joined(separator: ", "))); run that one"
        case .failed(let name, let line, let error):
            "\(name)\(line.map { ", line \($0)" } ?? ""): \(error.message) (\(error.sqlState))"
        case .notOneTransaction(let name): "\(name) is not one transaction: it must not commit, roll back or begin"
        case .lockTimedOut(let seconds): "a lock was not free within \(seconds) s; another node may be migrating"
        }
    }
}
