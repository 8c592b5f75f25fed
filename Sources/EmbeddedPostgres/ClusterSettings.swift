// The configuration files of the private server: settings and access rules. They are written at each start, so that
// they fit this version and the directory's current place.

/// Settings by name, as in postgresql.conf.
enum ClusterSettings {
    /// The operator's own settings: read last, never written by Parley.
    static let localFile = "local.conf"
    static let file = "parley.conf"

    /// Appended to the postgresql.conf that initdb created.
    static let include =
        "\n# Parley's settings, written at each start; local.conf, if there is one, has the last word.\n"
        + "include = '\(file)'\ninclude_if_exists = '\(localFile)'\n"

    /// Allows the Unix socket only, for every user that can open it. The directory and the socket are closed (0700) to
    /// all but the server's user and root. `peer` would compare names, but Parley started by root connects as root to a
    /// server of user `postgres`. A password in a file would be readable by the same two users, and so no safer.
    static let whoMayConnect = """
        # TYPE  DATABASE     USER  METHOD
        local   all          all   trust
        local   replication  all   trust

        """

    private static let usual: [(name: String, value: String)] = [
        ("listen_addresses", ""),
        ("port", "5432"),
        ("unix_socket_permissions", "0700"),
        ("max_connections", "200"),
        ("shared_buffers", "128MB"),
        // Durable: an acknowledged message is on disk.
        ("fsync", "on"),
        ("synchronous_commit", "on"),
        ("full_page_writes", "on"),
        // Fewer checkpoints write fewer full pages to the log. A crash has to replay 1 GB at most.
        ("max_wal_size", "1GB"),
        ("checkpoint_timeout", "15min"),
        // Statements are short: compiling them costs more than it saves.
        ("jit", "off"),
        // For solid-state disks; the default of 4 is for hard disks.
        ("random_page_cost", "1.1"),
        ("logging_collector", "off"),
        ("log_destination", "stderr"),
        ("log_line_prefix", "%m [%p] "),
        ("log_checkpoints", "off"),
        // Parley receives the errors of failed statements and logs what matters. Their text may contain users'
        // messages.
        ("log_min_messages", "log"),
        ("log_min_error_statement", "panic"),
        ("log_error_verbosity", "terse"),
        ("log_timezone", "UTC"),
        ("timezone", "UTC"),
        ("lc_messages", "C"),
    ]

    /// The arguments with which `postgres` prints a setting, and ends with status 0 if it was built with lz4.
    static func asksForLZ4(_ dataDirectory: String) -> [String] {
        ["-D", dataDirectory, "-C", "wal_compression", "-c", "wal_compression=lz4"]
    }

    /// The text of the settings file; `overrides` replace the usual settings.
    /// - Parameter hasLZ4: full pages in the WAL then cost half the processor time.
    static func text(socketDirectory: String, hasLZ4: Bool, overrides: [String: String]) -> String {
        var settings = usual
        settings.append(("wal_compression", hasLZ4 ? "lz4" : "on"))
        settings.append(("unix_socket_directories", socketDirectory))
        settings += overrides.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        let lines = settings.map { "\($0.name) = '\($0.value.replacing("'", with: "''"))'" }
        return "# Written by Parley at each start: changes belong into \(localFile).\n"
            + lines.joined(separator: "\n") + "\n"
    }
}
