// The subcommands of the executable, as a person types them. What they do is the executable's affair.

/// What `parley` is asked to do.
package enum Command: String, CaseIterable, Sendable {
    case serve
    case migrate
    case admin
    case bench

    /// One sentence for the list of commands.
    package var summary: String {
        switch self {
        case .serve: "Serve the HTTP API until SIGTERM or Ctrl-C."
        case .migrate: "Bring the database's schema up to this version, then exit."
        case .admin: "Look after accounts, messages and sessions, in the database itself."
        case .bench: "Measure running nodes: how many, how fast, at what cost."
        }
    }
}
