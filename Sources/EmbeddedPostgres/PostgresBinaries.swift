// Finds PostgreSQL's programs. PostgresCluster runs them.

import FoundationEssentials
import Glibc
import Linux

/// One installed PostgreSQL: the directory with initdb, postgres and psql, and its major version.
package struct PostgresBinaries: Sendable, Equatable {
    /// Absolute, symbolic links resolved.
    package let directory: String
    package let major: Int

    package var initdb: String { directory + "/initdb" }
    package var postgres: String { directory + "/postgres" }
    package var psql: String { directory + "/psql" }

    /// The oldest version that Parley's SQL supports.
    package static let majorMin = 15

    /// Finds an installed PostgreSQL: first on `PATH`, then in the directories of Debian, Red Hat, Alpine, a build from
    /// source and Homebrew, newest first. An existing cluster needs its own `major`. Blocks: it runs each candidate
    /// with `--version` (some milliseconds).
    ///
    /// - Throws: `EmbeddedPostgresError` (`binariesMissing`, or `otherVersion` when `major` is asked for and missing).
    package static func find(
        major: Int? = nil, path: String? = ProcessInfo.processInfo.environment["PATH"],
        usualDirectories: [String]? = nil
    ) throws -> PostgresBinaries {
        var found: [PostgresBinaries] = []
        for directory in (path ?? "").split(separator: ":").map(String.init) + (usualDirectories ?? usual()) {
            guard let binaries = look(in: directory), !found.contains(binaries) else { continue }
            if binaries.major == major || major == nil && binaries.major >= majorMin { return binaries }
            found.append(binaries)
        }
        let have = Set(found.map(\.major)).sorted().map(String.init).joined(separator: ", ")
        if let major, !found.isEmpty {
            throw EmbeddedPostgresError(
                .otherVersion,
                "The data directory was made by PostgreSQL \(major), but only PostgreSQL \(have) is installed: "
                    + "install postgresql-\(major), or dump and load the data by hand; nothing was changed."
            )
        }
        if !found.isEmpty {
            throw EmbeddedPostgresError(
                .binariesMissing, "Parley needs PostgreSQL \(majorMin) or newer, but only \(have) is installed.")
        }
        throw EmbeddedPostgresError(
            .binariesMissing,
            "PostgreSQL is not installed (initdb and postgres were looked for on PATH and in the usual places): "
                + "install it (Debian and Ubuntu: apt install postgresql), or set PARLEY_DATABASE_URL.")
    }

    private static func usual() -> [String] {
        let versioned = [("/usr/lib/postgresql", "/bin"), ("/usr", "/bin"), ("/opt/homebrew/opt", "/bin")]
            .flatMap { parent, suffix in
                let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
                return names.compactMap { name -> (major: Int, directory: String)? in
                    let digits = name.drop { !$0.isNumber }
                    let prefix = name.dropLast(digits.count)
                    guard ["", "pgsql-", "postgresql@"].contains(prefix), let major = Int(digits) else { return nil }
                    return (major, "\(parent)/\(name)\(suffix)")
                }
            }
        return versioned.sorted { $0.major > $1.major }.map(\.directory)
            + ["/usr/local/pgsql/bin", "/usr/bin", "/usr/local/bin", "/usr/libexec/postgresql", "/opt/homebrew/bin"]
    }

    private static func look(in directory: String) -> PostgresBinaries? {
        // Debian's PATH may contain a link to one program; the others are next to its target.
        guard let program = try? Files.resolve(directory + "/postgres"),
            let slash = program.lastIndex(of: "/")
        else { return nil }
        let home = String(program[..<slash])
        guard access(home + "/postgres", X_OK) == 0, access(home + "/initdb", X_OK) == 0,
            let major = version(of: home + "/postgres")
        else { return nil }
        return PostgresBinaries(directory: home, major: major)
    }

    /// 15 of "postgres (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)" or "postgres (PostgreSQL) 17beta1".
    private static func version(of program: String) -> Int? {
        guard let output = try? Program(executable: program, arguments: ["--version"]).runBlocking().output else {
            return nil
        }
        return Int(output.drop { !$0.isNumber }.prefix { $0.isNumber })
    }
}
