// The command line's flags, as names and values. What is legal as a value is decided by the settings table.

/// The flags after a command: `--name value` or `--name=value`; switches stand alone.
struct Flags {
    /// By flag, in the order given. A switch has an empty value.
    private(set) var lists: [String: [String]] = [:]
    /// Whole sentences.
    private(set) var mistakes: [String] = []

    /// The values of flags that may be given once.
    var values: [String: String] { lists.compactMapValues(\.first) }

    init(_ arguments: some Sequence<String>, of settings: [Setting], for command: Command) {
        let known = Set(settings.filter { $0.commands.contains(command) }.map(\.flag))
        self.init(arguments, known: known, of: command.rawValue)
    }

    /// Reads what it can; everything else becomes a mistake.
    /// - Parameter command: as typed, without `parley`.
    init(
        _ arguments: some Sequence<String>, known: Set<String>, switches: Set<String> = [],
        repeatable: Set<String> = [], of command: String
    ) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--") else {
                mistakes.append("\(argument.quoted) is unexpected: \(command) takes flags only.")
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let flag = parts[0]
            guard known.contains(flag) else {
                mistakes.append("\(flag.quoted) is not a flag of `parley \(command)` (see --help).")
                // Its value, or else that would be called unexpected too.
                if parts.count == 1, rest.first?.hasPrefix("--") == false { rest.removeFirst() }
                continue
            }
            if switches.contains(flag) {
                if parts.count == 2 { mistakes.append("\(flag) takes no value.") }
                lists[flag] = [""]
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
            if lists[flag] != nil, !repeatable.contains(flag) { mistakes.append("\(flag) is given more than once.") }
            lists[flag, default: []].append(value)
        }
    }
}
