// PostgreSQL's client programs, for the baseline.
import Foundation

enum PostgresPrograms {
    /// Returns the path of `pgbench` or `psql`: in the directories of Debian and Red Hat, newest version first, else on
    /// PATH.
    static func find(_ name: String) throws -> String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let directories = versioned() + path.split(separator: ":").map(String.init)
        let found = directories.map { $0 + "/" + name }.first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let found else { throw BenchFailure("\(name) is not installed (Debian: apt install postgresql)") }
        return found
    }

    private static func versioned() -> [String] {
        (15...40).reversed().flatMap { ["/usr/lib/postgresql/\($0)/bin", "/usr/pgsql-\($0)/bin"] }
    }
}
