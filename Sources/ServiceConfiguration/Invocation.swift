// From the command line to what is to be done: help, version, or a command with its settings.

/// What one start of the executable asks for.
package enum Invocation: Sendable, Equatable {
    /// The version that `--version` prints.
    package static let version = "0.1.0"

    /// Print this to standard output and exit with 0.
    case show(String)
    case run(Command, Settings)

    /// - Parameter arguments: without the program's name.
    package static func parse(
        arguments: [String], environment: [String: String],
        readFile: (String) throws -> String = ConfigurationFile.read
    ) throws(ConfigurationErrors) -> Invocation {
        let isHelp = { (argument: String) in ["--help", "-h"].contains(argument) }
        var words = arguments
        // `parley help serve` is `parley serve --help`.
        if words.first == "help" { words = words.dropFirst() + ["--help"] }
        if words.isEmpty || words.first.map(isHelp) == true { return .show(Help.overview) }
        if words.first == "--version" { return .show("parley \(version)") }
        guard let command = Command(rawValue: words[0]) else {
            let commands = Command.allCases.map(\.rawValue).joined(separator: ", ")
            throw ConfigurationErrors(mistakes: [
                "\(words[0].quoted) is not a command of parley; there are: \(commands)."
            ])
        }
        let flags = Array(words.dropFirst())
        if flags.contains(where: isHelp) { return .show(Help.text(for: command)) }
        return .run(
            command,
            try Settings.load(arguments: flags, environment: environment, for: command, readFile: readFile))
    }
}
