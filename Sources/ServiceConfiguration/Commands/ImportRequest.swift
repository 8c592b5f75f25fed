// `parley import` on the command line. The executable carries it out.
import CommandLineFlags

/// An import of an archive into the database.
package struct ImportRequest: Sendable, Equatable {
    /// `-` is standard input.
    package var path: String
    package var isDryRun: Bool
    package var settings: Settings

    package init(path: String, isDryRun: Bool, settings: Settings) {
        self.path = path
        self.isDryRun = isDryRun
        self.settings = settings
    }

    /// Parses the words after `import`. Throws all mistakes together.
    static func load(
        _ words: [String], environment: [String: String], readFile: (String) throws -> String
    ) throws(ConfigurationErrors) -> ImportRequest {
        let (flags, paths) = sort(words)
        var mistakes: [String] = []
        if paths.count != 1 {
            mistakes.append("parley import needs one archive: a file, or - for standard input.")
        }
        do throws(ConfigurationErrors) {
            let settings = try Settings.load(
                arguments: flags, environment: environment, for: .importArchive, readFile: readFile)
            if settings.databaseURL == nil {
                mistakes.append("PARLEY_DATABASE_URL is not set: the command needs the nodes' database.")
            }
            if let path = paths.first, mistakes.isEmpty {
                return ImportRequest(path: path, isDryRun: words.contains("--dry-run"), settings: settings)
            }
        } catch {
            mistakes += error.mistakes
        }
        throw ConfigurationErrors(mistakes: mistakes)
    }

    /// The flags with their values, without `--dry-run`, and all other words.
    private static func sort(_ words: [String]) -> (flags: [String], paths: [String]) {
        let known = Set(Setting.all.filter { $0.commands.contains(.importArchive) }.map(\.flag))
        var (flags, paths): ([String], [String]) = ([], [])
        var takesValue = false
        for word in words where word != "--dry-run" {
            if takesValue || word.hasPrefix("--") { flags.append(word) } else { paths.append(word) }
            takesValue = !takesValue && known.contains(word)
        }
        return (flags, paths)
    }
}
