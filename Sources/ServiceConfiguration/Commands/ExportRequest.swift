// `parley export` on the command line. The executable carries it out.
import CommandLineFlags
package import Domain

/// An archive to write.
package struct ExportRequest: Sendable, Equatable {
    package var scope = ArchiveScope()
    package var settings: Settings

    package init(settings: Settings) { self.settings = settings }

    /// Parses the words after `export`. Throws all mistakes together.
    static func load(_ words: [String], _ sources: SettingsSources) throws(ConfigurationErrors) -> ExportRequest {
        let flags = Flags(words, of: .export, own: ["--user", "--thread", "--since", "--until"])
        var mistakes: [String] = []
        func value<Value>(_ flag: String, _ rule: String, _ parse: (String) -> Value?) -> Value? {
            guard let text = flags.values[flag] else { return nil }
            let value = parse(text)
            if value == nil { mistakes.append("\(flag) must be \(rule).") }
            return value
        }
        let time = "an RFC 3339 time, such as 2026-11-21T10:00:00Z"
        let user = value("--user", "the id of an account") { UserID(parsing: $0) }
        let thread = value("--thread", "the id of a thread") { ThreadID(parsing: $0) }
        let since = value("--since", time) { Timestamp(parsing: $0) }
        let until = value("--until", time) { Timestamp(parsing: $0) }
        if let since, let until, since > until { mistakes.append("--until must not be before --since.") }
        var request = ExportRequest(settings: try Settings.read(flags, sources, mistakes: mistakes))
        request.scope = ArchiveScope(user: user, thread: thread, since: since, until: until)
        return request
    }
}
