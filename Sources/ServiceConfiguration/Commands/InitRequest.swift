// `parley init` on the command line, and the text of the file that it writes. The executable carries it out.
import CommandLineFlags

/// A first set-up: a configuration file, a database, an account.
package struct InitRequest: Sendable, Equatable {
    package static let usernameDefault = "admin"
    /// The directory of the embedded PostgreSQL if the system's configuration file is written.
    package static let systemDataDirectory = "/var/lib/parley"

    /// The file to write. Absolute.
    package var file: String
    /// The first account's. The executable validates both.
    package var username: String
    package var name: String
    /// Their paths are absolute.
    package var settings: Settings

    package init(file: String, username: String, name: String, settings: Settings) {
        self.file = file
        self.username = username
        self.name = name
        self.settings = settings
    }

    /// Parses the words after `init`. Throws all mistakes together.
    static func load(_ words: [String], _ sources: SettingsSources) throws(ConfigurationErrors) -> InitRequest {
        let flags = Flags(words, of: .initialise, own: ["--username", "--name"])
        // The file does not exist yet.
        var sources = sources
        sources.readFile = { _ in "" }
        var settings = try Settings.read(flags, sources) { settings in
            [settings.databaseURL, settings.dataDirectory].contains { $0.map(canBeWritten) == false }
                ? "The database's URL or directory cannot be written to a file: it has a line break, or a space at an end."
                : nil
        }
        let places = sources.places
        let named = flags.values["--config"] ?? sources.environment["PARLEY_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
        let file = named.map(places.absolute) ?? places.fileToWrite
        settings.configurationFile = file
        if file == ConfigurationPlaces.systemFile, settings.dataDirectory == Settings().dataDirectory {
            settings.dataDirectory = systemDataDirectory
        }
        settings.dataDirectory = places.absolute(settings.dataDirectory)
        let username = flags.values["--username"] ?? usernameDefault
        return InitRequest(
            file: file, username: username, name: flags.values["--name"] ?? username, settings: settings)
    }

    /// A value in the file ends with its line, and has no spaces at its ends.
    private static func canBeWritten(_ value: String) -> Bool {
        !value.contains(where: \.isNewline) && value.first?.isWhitespace == false && value.last?.isWhitespace == false
    }

    /// The text of the file. It has what the command was given, so that `parley serve` needs nothing else.
    package func fileText(adminToken: String) -> String {
        let usual = Settings()
        var lines = [
            "# Written by `parley init`. `parley serve --help` lists all settings.", "",
            "# Opens the admin API. Keep it secret.", "admin_token = \(adminToken)", "",
        ]
        if let url = settings.databaseURL {
            lines += ["database_url = \(url)"]
        } else {
            lines += ["# Parley keeps a PostgreSQL of its own here.", "data_dir = \(settings.dataDirectory)"]
        }
        if settings.httpHost != usual.httpHost { lines += ["http_host = \(settings.httpHost)"] }
        if settings.httpPort != usual.httpPort { lines += ["http_port = \(settings.httpPort)"] }
        lines += [
            "", "# For more than this machine: an address to listen on, or a proxy with TLS (docs/operations.md).",
            "# http_host = 0.0.0.0", "# public_url = https://chat.example.org",
            "# Who may create an account: open, invited or closed. Unset: open on this machine only.",
            "# registration = invited",
        ]
        return lines.joined(separator: "\n") + "\n"
    }
}
