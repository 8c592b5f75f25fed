// Loads the settings. A flag overrides the environment, which overrides the file, which overrides the default.
import CommandLineFlags

extension Settings {
    /// Loads all settings and reports all mistakes together.
    ///
    /// - Parameters:
    ///   - arguments: the flags, without the names of program and command.
    ///   - environment: only `PARLEY_…` variables count; an empty value counts as unset.
    ///   - readFile: returns the text of the configuration file. Its error completes the sentence "cannot be read: ".
    package static func load(
        arguments: [String], environment: [String: String], for command: Command = .serve,
        readFile: @escaping (String) throws -> String = ConfigurationFile.read
    ) throws(ConfigurationErrors) -> Settings {
        let flags = Flags(arguments, of: command)
        return try read(flags, SettingsSources(environment: environment, readFile: readFile))
    }

    /// Loads the settings of `parley health`, which needs a port that is known before the node starts.
    static func forHealth(_ words: [String], _ sources: SettingsSources) throws(ConfigurationErrors) -> Settings {
        try read(Flags(words, of: .health), sources) { settings in
            settings.httpPort == 0 ? "PARLEY_HTTP_PORT is 0, any free port: set the port of the node." : nil
        }
    }

    /// Loads the settings of a command and reports all mistakes together.
    ///
    /// - Parameters:
    ///   - own: the mistakes in the command's own flags.
    ///   - need: returns a sentence if the command cannot work with these settings.
    static func read(
        _ flags: Flags, _ sources: SettingsSources, mistakes own: [String] = [],
        need: (Settings) -> String? = { _ in nil }
    ) throws(ConfigurationErrors) -> Settings {
        var settings = Settings()
        var mistakes: [String] = []

        /// Stores a valid value. Reports an invalid one under the name that the user wrote.
        func accept(_ text: String, for setting: Setting, from origin: String) {
            guard let rejection = setting.accept(text, &settings) else { return }
            let value = setting.exposure == .open ? text.quoted : "the value"
            mistakes.append("\(origin): \(value) \(rejection).")
        }

        var isSet: Set<String> = []
        for setting in Setting.all {
            if let text = flags.values[setting.flag] {
                accept(text, for: setting, from: setting.flag)
            } else if let text = sources.environment[setting.variable], !text.isEmpty {
                accept(text, for: setting, from: setting.variable)
            } else {
                continue
            }
            isSet.insert(setting.key)
        }

        do {
            if settings.configurationFile == nil { settings.configurationFile = try sources.places.find() }
        } catch {
            mistakes += error.mistakes
        }
        if let path = settings.configurationFile {
            let file = Result { try sources.readFile(path) }.map(ConfigurationFile.parse)
            switch file {
            case .failure(let error):
                mistakes.append("The configuration file \(path.quoted) cannot be read: \(error).")
            case .success(let (entries, malformed)):
                mistakes += malformed.map { "\(path), line \($0.line): \($0.sentence)" }
                for entry in entries {
                    let setting = Setting.all.first { $0.key == entry.key && $0.isAllowedInFile }
                    if let setting, !isSet.contains(setting.key) {
                        accept(entry.value, for: setting, from: "\(path), line \(entry.line), \(setting.key)")
                    } else if setting == nil {
                        mistakes.append(
                            "\(path), line \(entry.line): \(entry.key.quoted) is not a setting."
                                + Suggestion.question(
                                    entry.key, among: Setting.all.filter(\.isAllowedInFile).map(\.key)))
                    }
                }
            }
        }

        if mistakes.isEmpty { mistakes = Setting.contradictions(in: settings) }
        if mistakes.isEmpty, let sentence = need(settings) { mistakes.append(sentence) }
        mistakes = flags.mistakes + own + mistakes
        if !mistakes.isEmpty { throw ConfigurationErrors(mistakes: mistakes) }
        let known = Set(Setting.all.map(\.variable))
        settings.unknownVariables = sources.environment.keys.filter { $0.hasPrefix("PARLEY_") && !known.contains($0) }
            .sorted()
        return settings
    }
}

/// Where the values come from that the command line does not have.
struct SettingsSources {
    var environment: [String: String]
    /// Where the configuration file is if nothing names it.
    var places = ConfigurationPlaces.none
    /// Returns the text of the configuration file. Its error completes the sentence "cannot be read: ".
    var readFile: (String) throws -> String
}
