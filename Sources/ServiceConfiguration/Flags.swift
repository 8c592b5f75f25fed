// The command line's flags, as names and values. What is legal as a value is decided by the settings table.

/// The flags after a command: `--name value` or `--name=value`.
struct Flags {
    private(set) var values: [String: String] = [:]
    /// Whole sentences.
    private(set) var mistakes: [String] = []

    /// Reads what it can; everything else becomes a mistake.
    init(_ arguments: some Sequence<String>, of settings: [Setting], for command: Command) {
        let known = Set(settings.filter { $0.commands.contains(command) }.map(\.flag))
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--") else {
                mistakes.append("\(argument.quoted) is unexpected: \(command.rawValue) takes flags only.")
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let flag = parts[0]
            guard known.contains(flag) else {
                mistakes.append("\(flag.quoted) is not a flag of `parley \(command.rawValue)` (see --help).")
                // Its value, or else that would be called unexpected too.
                if parts.count == 1, rest.first?.hasPrefix("--") == false { rest.removeFirst() }
                continue
            }
            let value: String? =
                if parts.count == 2 { parts[1] } else if rest.first?.hasPrefix("--") == false { rest.popFirst() } else {
                    nil
                }
            guard let value, !value.isEmpty else {
                mistakes.append("\(flag) needs a value.")
                continue
            }
            if values.updateValue(value, forKey: flag) != nil { mistakes.append("\(flag) is given more than once.") }
        }
    }
}
