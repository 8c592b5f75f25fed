// Creates a data directory completely or not at all, by a rename at the end.

import FoundationEssentials
import Glibc
import Linux

extension PostgresCluster {
    /// The major version of an existing cluster; nil if there is none.
    package static func existingMajor(dataDirectory: String) throws -> Int? {
        guard let text = try Files.tail(dataDirectory + "/PG_VERSION") else { return nil }
        return Int(text.prefix { $0.isNumber })
    }

    /// Creates the cluster with Parley's role and database. It is created under another name and then renamed, so an
    /// existing directory is always complete. Leftovers of interrupted attempts are removed.
    ///
    /// - Throws: `EmbeddedPostgresError` (`initialisationFailed`), `FileError`.
    package func initialise() async throws {
        let configuration = configuration
        let prefix = configuration.dataDirectory + ".new-"
        // A new name each time, because initdb's child of an interrupted attempt may outlive it for a moment.
        let draft = "\(prefix)\(getpid())-\(UInt32.random(in: 0 ... .max))"
        try await Blocking.run {
            try Self.removeDrafts(prefix: prefix)
            guard mkdir(draft, 0o700) == 0 else { throw FileError("make", draft) }
            if let account = configuration.account { try Files.giveTree(draft, to: account) }
        }
        do {
            try await fill(draft)
            try await Blocking.run {
                guard rename(draft, configuration.dataDirectory) == 0 else {
                    throw FileError("make", configuration.dataDirectory)
                }
                try Files.flushDirectory(configuration.dataDirectory + "/..")
                // The child of an interrupted attempt may have written a file after the first removal.
                try Self.removeDrafts(prefix: prefix)
            }
        } catch {
            try? await Blocking.run { try Files.remove(draft) }
            throw error
        }
    }

    private func fill(_ draft: String) async throws {
        let initdb = Program(
            executable: configuration.binaries.initdb,
            arguments: [
                "--pgdata=\(draft)", "--username=\(Self.superuserRole)", "--encoding=UTF8", "--data-checksums",
                "--auth=trust", "--lc-collate=C", "--lc-ctype=\(Self.characterType)", "--lc-messages=C",
            ] + (configuration.flushesNewCluster ? [] : ["--no-sync"]),
            account: configuration.account, signalAtOurDeath: "KILL")
        try await run(initdb)

        let account = configuration.account
        try await Blocking.run {
            let settings = draft + "/postgresql.conf"
            guard let usual = try Files.tail(settings) else { throw FileError("read", settings) }
            try Files.write(usual + ClusterSettings.include, to: settings, mode: 0o600, owner: account)
            try Files.write("", to: draft + "/" + ClusterSettings.file, mode: 0o600, owner: account)
            try Files.write(
                ClusterSettings.whoMayConnect, to: draft + "/pg_hba.conf", mode: 0o600, owner: account)
        }

        // A single-user backend needs neither a socket nor a client. It answers errors and continues, with status 0.
        let setUp = Program(
            executable: configuration.binaries.postgres,
            arguments: ["--single", "-D", draft, "-c", "log_checkpoints=off", "postgres"],
            account: configuration.account, signalAtOurDeath: "KILL")
        try await run(
            setUp,
            input: """
                create role \(Self.ownerRole) login
                create role \(Self.senderRole)
                create database \(Self.database) owner \(Self.ownerRole)

                """)
    }

    private func run(_ command: Program, input: String = "") async throws {
        let (status, output) = try await command.run(input: input)
        guard status == 0, !output.contains("ERROR:"), !output.contains("FATAL:") else {
            throw EmbeddedPostgresError(
                .initialisationFailed, "PostgreSQL's data directory could not be made: \(ServerLog.reason(in: output))."
            )
        }
    }

    /// Characters by Unicode, so that upper and lower case work; order by bytes ("C"), which is fastest, serves prefix
    /// searches from an ordinary index and never changes with the C library.
    private static var characterType: String {
        guard let locale = newlocale(1 << LC_CTYPE, "C.UTF-8", nil) else { return "C" }
        freelocale(locale)
        return "C.UTF-8"
    }

    private static func removeDrafts(prefix: String) throws {
        guard let slash = prefix.lastIndex(of: "/") else { return }
        let parent = String(prefix[..<slash])
        let start = prefix[prefix.index(after: slash)...]
        for name in try FileManager.default.contentsOfDirectory(atPath: parent) where name.hasPrefix(start) {
            try? Files.remove(parent + "/" + name)
        }
    }
}
