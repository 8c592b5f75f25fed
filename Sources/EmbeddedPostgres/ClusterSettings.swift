// The files that steer the private server: settings and who may connect. Written anew at each start, so that they
// follow this executable and the directory's present place.

/// Settings by name, as in postgresql.conf.
enum ClusterSettings {
    /// The owner's own changes: read last, never written by us.
    static let localFile = "local.conf"
    static let file = "parley.conf"

    /// One more line for the postgresql.conf that initdb made.
    static let include =
        "\n# Parley's settings, written at each start; local.conf, if there is one, has the last word.\n"
        + "include = '\(file)'\ninclude_if_exists = '\(localFile)'\n"

    /// Only the Unix socket, for everyone who can open it: the directory and the socket itself are closed (0700) to all
    /// but the user that the server runs as, and root. `peer` would compare names: Parley started by root connects as
    /// root to a server of user `postgres`. A password in a file would be open to the same two users, and no better.
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
        // Fewer checkpoints means fewer full pages in the log; 1 GB is what a crash has to replay at most.
        ("max_wal_size", "1GB"),
        ("checkpoint_timeout", "15min"),
        ("wal_compression", "on"),
        // Short statements: compiling them costs more than it gives.
        ("jit", "off"),
        // Solid-state disks; 4 is for turning ones.
        ("random_page_cost", "1.1"),
        ("logging_collector", "off"),
        ("log_destination", "stderr"),
        ("log_line_prefix", "%m [%p] "),
        ("log_checkpoints", "off"),
        // Failed statements are answers to Parley, which logs what matters; their text may hold what people wrote.
        ("log_min_messages", "log"),
        ("log_min_error_statement", "panic"),
        ("log_error_verbosity", "terse"),
        ("log_timezone", "UTC"),
        ("timezone", "UTC"),
        ("lc_messages", "C"),
    ]

    /// The text of the settings file; `overrides` win over what is usual.
    static func text(socketDirectory: String, overrides: [String: String]) -> String {
        var settings = usual
        settings.append(("unix_socket_directories", socketDirectory))
        settings += overrides.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        let lines = settings.map { "\($0.name) = '\($0.value.replacing("'", with: "''"))'" }
        return "# Written by Parley at each start: changes belong into \(localFile).\n"
            + lines.joined(separator: "\n") + "\n"
    }
}
