// The names of the executable's subcommands. The executable carries them out.

/// A subcommand of `parley`.
package enum Command: String, CaseIterable, Sendable {
    case initialise = "init"
    case serve
    case health
    case migrate
    case admin
    case attachments
    case outbox
    case export
    case importArchive = "import"
    case bench
    case chat

    /// One sentence for the list of commands.
    package var summary: String {
        switch self {
        case .initialise: "Set up: write a configuration file, prepare the database, create the first account."
        case .serve: "Run a node: serve the HTTP API until SIGTERM or Ctrl-C."
        case .health: "Check that the node of this machine is alive: exit with status 0 if it is, otherwise 1."
        case .migrate: "Upgrade the database schema to this version, then exit."
        case .admin: "Administer accounts, messages and sessions directly in the database."
        case .attachments: "Move attachments between PostgreSQL and an S3-compatible store."
        case .outbox: "Install the outbox for parley.send in the database of another program."
        case .export: "Write accounts, threads, messages and files as an archive to standard output."
        case .importArchive: "Import threads and messages from an archive into the database."
        case .bench: "Measure throughput, latency and cost of running nodes."
        case .chat: "Chat in the terminal."
        }
    }

    /// The executable that carries out the command; nil for `parley` itself. The server is built without them: a terminal
    /// client and a load generator bring libraries of their own.
    package var program: String? {
        switch self {
        case .bench: "parley-bench"
        case .chat: "parley-chat"
        case .initialise, .serve, .health, .migrate, .admin, .attachments, .outbox, .export, .importArchive: nil
        }
    }
}

extension Set<Command> {
    /// The commands that connect to the database.
    static let withDatabase: Self = [.initialise, .serve, .migrate, .admin, .attachments, .export, .importArchive]
    /// The commands that need the address of the node.
    static let withAddress: Self = [.initialise, .serve, .health]
    /// The commands that reach the object store.
    static let withObjectStore: Self = [.serve, .attachments, .export]
}
