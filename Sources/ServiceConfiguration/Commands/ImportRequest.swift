// `parley import` on the command line. The executable carries it out.
import CommandLineFlags

/// An import of an archive, or of the export of another system, into the database.
package struct ImportRequest: Sendable, Equatable {
    /// A system whose exports can be converted.
    package enum Source: String, CaseIterable, Sendable { case slack, mattermost, zulip, rocketchat, matrix }

    /// A conversion to an archive.
    package struct Conversion: Sendable, Equatable {
        package var source: Source
        /// Keeps workspaces apart whose ids may be equal.
        package var namespace: String
        /// Stands after each room's title.
        package var roomSuffix: String?
        /// Whether the archive is written to standard output, and nothing is imported.
        package var convertsOnly: Bool

        package init(source: Source, namespace: String, roomSuffix: String?, convertsOnly: Bool) {
            self.source = source
            self.namespace = namespace
            self.roomSuffix = roomSuffix
            self.convertsOnly = convertsOnly
        }
    }

    /// `-` is standard input.
    package var path: String
    package var isDryRun: Bool
    /// It is nil if the file is an archive.
    package var conversion: Conversion?
    package var settings: Settings

    package init(path: String, isDryRun: Bool, conversion: Conversion? = nil, settings: Settings) {
        self.path = path
        self.isDryRun = isDryRun
        self.conversion = conversion
        self.settings = settings
    }

    /// Parses the words after `import`. Throws all mistakes together.
    static func load(_ words: [String], _ sources: SettingsSources) throws(ConfigurationErrors) -> ImportRequest {
        let flags = Flags(
            words, of: .importArchive,
            own: ["--dry-run", "--from", "--namespace", "--room-suffix", "--convert-only"],
            switches: ["--dry-run", "--convert-only"], acceptsOperands: true)
        var mistakes: [String] = []
        if flags.operands.count != 1 {
            mistakes.append("parley import needs one archive: a file, or - for standard input.")
        }
        let conversion = conversion(flags, &mistakes)
        let settings = try Settings.read(flags, sources, mistakes: mistakes) { settings in
            settings.databaseURL == nil && conversion?.convertsOnly != true
                ? "PARLEY_DATABASE_URL is not set: the command needs the nodes' database." : nil
        }
        return ImportRequest(
            path: flags.operands[0], isDryRun: flags.values["--dry-run"] != nil, conversion: conversion,
            settings: settings)
    }

    private static func conversion(_ flags: Flags, _ mistakes: inout [String]) -> Conversion? {
        guard let name = flags.values["--from"] else {
            for flag in ["--namespace", "--room-suffix", "--convert-only"] where flags.values[flag] != nil {
                mistakes.append("\(flag) needs --from: it is about the export of another system.")
            }
            return nil
        }
        guard let source = Source(rawValue: name) else {
            let sources = Source.allCases.map(\.rawValue).joined(separator: ", ")
            mistakes.append("--from must be one of: \(sources).")
            return nil
        }
        if flags.operands.first == "-" { mistakes.append("With --from, parley import needs a file or a directory.") }
        return Conversion(
            source: source, namespace: flags.values["--namespace"] ?? "", roomSuffix: flags.values["--room-suffix"],
            convertsOnly: flags.values["--convert-only"] != nil)
    }
}
