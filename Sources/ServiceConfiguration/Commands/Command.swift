// The names of the executable's subcommands. The executable carries them out.

/// A subcommand of `parley`.
package enum Command: String, CaseIterable, Sendable {
    case serve
    case migrate
    case admin
    case bench

    /// One sentence for the list of commands.
    package var summary: String {
        switch self {
        case .serve: "Run a node: serve the HTTP API until SIGTERM or Ctrl-C."
        case .migrate: "Upgrade the database schema to this version, then exit."
        case .admin: "Administer accounts, messages and sessions directly in the database."
        case .bench: "Measure throughput, latency and cost of running nodes."
        }
    }
}
