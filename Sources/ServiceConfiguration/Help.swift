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
