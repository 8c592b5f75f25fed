// One row of the settings table: names, help, parsing and printing of a setting.
import CommandLineFlags

/// One setting. Its flag, variable and file key share one name: `--http-port`, `PARLEY_HTTP_PORT`, `http_port`.
package struct Setting: Sendable {
    package enum Exposure: Sendable {
        case open
        /// Shown with its passwords hidden. Error messages never repeat the value.
        case connectionString
        /// Shown as `***` if set.
        case secret
    }

    /// The name in the configuration file.
    package let key: String
    /// The name of the value in `--help`.
    package let placeholder: String
    /// A phrase without a full stop at its end.
    package let help: String
    package let exposure: Exposure
    /// The commands that accept the setting as a flag.
    package let commands: Set<Command>
    /// False only for the path of the configuration file itself.
    package let isAllowedInFile: Bool

    /// Describes a valid value: "a whole number from 1 to 9".
    package let expectation: String
    /// Parses the text and stores the value. Returns the rest of a sentence ("is not …") if the value is invalid.
    let accept: @Sendable (String, inout Settings) -> String?
    /// The current value as text; empty when unset.
    private let text: @Sendable (Settings) -> String

    init<Value: Equatable>(
        _ key: String, _ field: WritableKeyPath<Settings, Value> & Sendable, _ format: ValueFormat<Value>,
        _ placeholder: String, _ help: String, exposure: Exposure = .open,
        commands: Set<Command> = [.serve], isAllowedInFile: Bool = true
    ) {
        self.key = key
        self.placeholder = placeholder
        self.help = help
        self.exposure = exposure
        self.commands = commands
        self.isAllowedInFile = isAllowedInFile
        expectation = format.expectation
        accept = { text, settings in
            guard let value = format.parse(text) else { return "is not \(format.expectation)" }
            settings[keyPath: field] = value
            return nil
        }
        text = { format.print($0[keyPath: field]) }
    }

    /// Returns the variables that one without a setting may stand for.
    package static func variables(near variable: String) -> [String] {
        let prefix = "PARLEY_"
        return Suggestion.near(
            String(variable.trimmingPrefix(prefix)), among: all.map { String($0.variable.trimmingPrefix(prefix)) }
        )
        .map { prefix + $0 }
    }

    package var flag: String { "--" + key.replacing("_", with: "-") }
    package var variable: String { "PARLEY_" + key.uppercased() }

    /// The default as text; empty if the setting is unset by default.
    package var defaultText: String { text(Settings()) }

    /// Returns the current value without its secrets; nil when unset.
    package func shown(in settings: Settings) -> String? {
        let value = text(settings)
        if value.isEmpty { return nil }
        return switch exposure {
        case .open, .connectionString: value
        case .secret: ConnectionString.hidden
        }
    }
}
