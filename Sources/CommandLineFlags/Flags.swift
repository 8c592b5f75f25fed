// Splits the command line into flags and values. The caller validates the values.

/// The flags after a command: `--name value` or `--name=value`; switches have no value.
package struct Flags {
    /// The values of each flag, in the order given. A switch has an empty value.
    package private(set) var lists: [String: [String]] = [:]
    /// The words that are neither flags nor values, if the command accepts any.
    package private(set) var operands: [String] = []
    /// Complete sentences.
    package private(set) var mistakes: [String] = []

    /// The first value of each flag.
    package var values: [String: String] { lists.compactMapValues(\.first) }

    /// Reads all flags; whatever is not a flag or a value becomes a mistake.
    /// - Parameters:
    ///   - known: the command's flags, those first that a suggestion names first.
    ///   - acceptsOperands: whether words may occur alone, such as the name of a file, or `-`.
    ///   - command: the subcommand as typed, without `parley`.
    package init(
        _ arguments: some Sequence<String>, known: [String], switches: Set<String> = [],
        repeatable: Set<String> = [], acceptsOperands: Bool = false, of command: String
    ) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            if acceptsOperands, !argument.hasPrefix("--") {
                operands.append(argument)
                continue
            }
            guard argument.hasPrefix("--") else {
                mistakes.append(
                    "\(argument.quoted) is not a flag: `parley \(command)` accepts only flags (see --help).")
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let flag = parts[0]
            guard known.contains(flag) else {
                mistakes.append(
                    "\(flag.quoted) is not a flag of `parley \(command)` (see --help)."
                        + Suggestion.question(flag, among: known + ["--help"]))
                // Skips the flag's value, which would be reported as unexpected too.
                if parts.count == 1, rest.first?.hasPrefix("--") == false { rest.removeFirst() }
                continue
            }
            if switches.contains(flag) {
                if parts.count == 2 { mistakes.append("\(flag) does not accept a value.") }
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
