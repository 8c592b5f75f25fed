// `--help`, and the README's table of settings: both rendered from the settings table.

package enum Help {
    static let columnCount = 100

    /// `parley --help`.
    package static let overview: String = {
        let commands = Command.allCases.map { "  \($0.rawValue.padded(to: 10))\($0.summary)" }
        return """
            parley \(Invocation.version): chat for your own users, over PostgreSQL.

            Usage: parley COMMAND [--flag VALUE] …

            \(commands.joined(separator: "\n"))

            parley COMMAND --help lists its flags; parley --version prints the version.
            """
    }()

    /// `parley serve --help`.
    package static func text(for command: Command) -> String {
        if command == .bench { return bench }
        if command == .admin { return admin }
        let rows = Setting.all.filter { $0.commands.contains(command) }.map { setting in
            let value = setting.defaultText.isEmpty ? "" : " [\(setting.defaultText)]"
            return "  \(setting.flag) \(setting.placeholder)\n" + wrapped(setting.help + value, indent: 6)
        }
        return """
            \(command.summary)

            Usage: parley \(command.rawValue) [--flag VALUE] …

            Each flag is also an environment variable (--log-level is PARLEY_LOG_LEVEL) and a line in the
            configuration file (log_level = debug). A flag wins over the environment, and that over the file.
            Defaults stand in brackets.

            \(rows.joined(separator: "\n"))
            """
    }

    /// `parley admin --help`.
    private static let admin: String = {
        let actions = AdminRequest.Action.allCases.map { action in
            let flags = action.flags.required + action.flags.optional.map { "[\($0)]" }
            return "  \(action.rawValue.padded(to: 16))\(action.summary)\n"
                + (flags.isEmpty ? "" : wrapped(flags.joined(separator: " "), indent: 18) + "\n")
        }
        let settings = Setting.all.filter { $0.commands.contains(.admin) }.map(\.flag)
        return """
            \(Command.admin.summary)

            Usage: parley admin ACTION [--flag VALUE] …

            \(actions.joined())
            Needs the database, not a node; nodes that run hear of it at once. What it gives is JSON. --actor
            says who acts, for the audit. The password is a file's first line.

            Settings, as with parley serve:
            \(wrapped(settings.joined(separator: " "), indent: 2))
            """
    }()

    /// `parley bench --help`.
    private static let bench: String = {
        let workloads = BenchSettings.Workload.allCases.map { "  \($0.rawValue.padded(to: 10))\($0.summary)" }
        return """
            \(Command.bench.summary)

            Usage: parley bench WORKLOAD [--flag VALUE] …

            \(workloads.joined(separator: "\n"))

            parley bench WORKLOAD --help lists its flags. What it writes stays: give it nodes and a database
            of its own.
            """
    }()

    /// `parley bench send --help`.
    package static func text(for workload: BenchSettings.Workload) -> String {
        let rows = BenchFlag.all.filter { $0.workloads.contains(workload) }.map { flag in
            let value = flag.defaultText.isEmpty ? "" : " [\(flag.defaultText)]"
            return "  \(flag.name)\(flag.placeholder.map { " \($0)" } ?? "")\n" + wrapped(flag.help + value, indent: 6)
        }
        return """
            \(workload.summary)

            Usage: parley bench \(workload.rawValue) [--flag VALUE] …

            A line a second on standard error says how it goes; the report goes to standard output. The exit
            status is not 0 if anything was lost, doubled, out of order or answered wrongly. Defaults stand
            in brackets.

            \(rows.joined(separator: "\n"))
            """
    }

    /// The README's table, in Markdown; ends without a newline.
    package static let markdownTable: String = {
        let rows = Setting.all.map { setting in
            let value = setting.defaultText.isEmpty ? "unset" : "`\(setting.defaultText)`"
            return "| `\(setting.variable)` | \(setting.help.replacing("|", with: "\\|")) | \(value) |"
        }
        return "| variable | means | default |\n| --- | --- | --- |\n" + rows.joined(separator: "\n")
    }()

    private static func wrapped(_ text: String, indent: Int) -> String {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, indent + line.count + 1 + word.count > columnCount {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " \(word)"
        }
        return (lines + [line]).map { String(repeating: " ", count: indent) + $0 }.joined(separator: "\n")
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
