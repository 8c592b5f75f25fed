// Parses the command line: help, version, or a subcommand with its settings.
import CommandLineFlags

/// The task that the command line gives the executable.
package enum Invocation: Sendable, Equatable {
    /// The one version number of this repository. A test compares docs/openapi.yaml and docs/changelog.md with it.
    package static let version = "0.1.0"

    /// Print this text to standard output and exit with status 0.
    case show(String)
    case initialise(InitRequest)
    case serve(Settings)
    /// Ask the node at the address of the settings.
    case health(Settings)
    case migrate(Settings)
    case admin(AdminRequest)
    case attachments(MoveRequest)
    case outbox(OutboxRequest)
    case export(ExportRequest)
    case importArchive(ImportRequest)
    /// Run another executable of Parley, which reads its own flags.
    case program(String, arguments: [String])

    /// - Parameter arguments: the command line without the program's name.
    package static func parse(
        arguments: [String], environment: [String: String], places: ConfigurationPlaces = .none,
        readFile: @escaping (String) throws -> String = ConfigurationFile.read
    ) throws(ConfigurationErrors) -> Invocation {
        let isHelp = { (argument: String) in ["--help", "-h", Help.allFlag].contains(argument) }
        var words = arguments
        // `parley help serve` means `parley serve --help`.
        if words.first == "help" { words = words.dropFirst() + ["--help"] }
        if words.isEmpty || words.first.map(isHelp) == true { return .show(Help.overview) }
        if words.first == "--version" { return .show("parley \(version)") }
        guard let command = Command(rawValue: words[0]) else {
            let commands = Command.allCases.map(\.rawValue)
            throw ConfigurationErrors(mistakes: [
                "\(words[0].quoted) is not a command of parley. Commands: \(commands.joined(separator: ", "))."
                    + Suggestion.question(words[0], among: commands + ["--help", "--version"])
            ])
        }
        let flags = Array(words.dropFirst())
        let sources = SettingsSources(environment: environment, places: places, readFile: readFile)
        if let program = command.program { return .program(program, arguments: flags) }
        let needsWords = [.admin, .attachments, .outbox, .importArchive].contains(command)
        if flags.contains(where: isHelp) || needsWords && flags.isEmpty {
            return .show(Help.text(for: command, showsAll: flags.contains(Help.allFlag)))
        }
        switch command {
        case .initialise: return .initialise(try InitRequest.load(flags, sources))
        case .health: return .health(try Settings.forHealth(flags, sources))
        case .admin: return .admin(try AdminRequest.load(flags, sources))
        case .outbox: return .outbox(try OutboxRequest.load(flags))
        case .importArchive: return .importArchive(try ImportRequest.load(flags, sources))
        case .attachments: return .attachments(try MoveRequest.load(flags, sources))
        case .export: return .export(try ExportRequest.load(flags, sources))
        case .migrate: return .migrate(try Settings.read(Flags(flags, of: command), sources))
        case .serve, .bench, .chat: return .serve(try Settings.read(Flags(flags, of: command), sources))
        }
    }
}
