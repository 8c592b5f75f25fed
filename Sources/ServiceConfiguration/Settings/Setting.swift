// One row of the settings table: a setting's names, its help, and how its text becomes a typed value and back.

/// One thing that can be configured, under one name everywhere: `--http-port`, `PARLEY_HTTP_PORT`, `http_port`.
package struct Setting: Sendable {
    package enum Exposure: Sendable {
        case open
        /// Shown with its passwords hidden, and never repeated in a complaint.
        case connectionString
        /// Only whether it is set is shown.
        case secret
    }

    /// The name in the configuration file.
    package let key: String
    /// What stands for the value in `--help`.
    package let placeholder: String
    /// A phrase without a full stop.
    package let help: String
    package let exposure: Exposure
    /// Which commands take it as a flag.
    package let commands: Set<Command>
    /// False for the file's own name, which a file can't say.
    package let isAllowedInFile: Bool

    /// Puts the text's value in its place; the sentence's rest ("is not …") for an illegal one.
    let accept: @Sendable (String, inout Settings) -> String?
    /// The value in use, as text; empty when unset.
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
        accept = { text, settings in
            guard let value = format.parse(text) else { return "is not \(format.expectation)" }
            settings[keyPath: field] = value
            return nil
        }
        text = { format.print($0[keyPath: field]) }
    }

    package var flag: String { "--" + key.replacing("_", with: "-") }
    package var variable: String { "PARLEY_" + key.uppercased() }

    /// What it is when nobody sets it; empty for unset.
    package var defaultText: String { text(Settings()) }

    /// The value in use, without its secrets; nil when unset.
    package func shown(in settings: Settings) -> String? {
        let value = text(settings)
        if value.isEmpty { return nil }
        return switch exposure {
        case .open, .connectionString: value
        case .secret: ConnectionString.hidden
        }
    }
}
