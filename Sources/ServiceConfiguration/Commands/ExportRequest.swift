// `parley export` on the command line. The executable carries it out.
import CommandLineFlags
package import Domain

/// An archive to write. Without filters: of everything.
package struct ExportRequest: Sendable, Equatable {
    package var user: UserID?
    package var thread: ThreadID?
    /// Messages of this time or later are exported.
    package var since: Timestamp?
    /// Messages before this time are exported.
    package var until: Timestamp?
    package var settings: Settings

    package init(settings: Settings) { self.settings = settings }

    private static let filters = ["--user", "--thread", "--since", "--until"]

    /// Parses the words after `export`. Throws all mistakes together.
    static func load(
        _ words: [String], environment: [String: String], readFile: (String) throws -> String
    ) throws(ConfigurationErrors) -> ExportRequest {
        let known = Setting.all.filter { $0.commands.contains(.export) }.map(\.flag)
        let flags = Flags(words[...], known: Set(known + filters), of: "export")
        var mistakes = flags.mistakes
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
        let rest = known.compactMap { flag in flags.values[flag].map { "\(flag)=\($0)" } }
        do throws(ConfigurationErrors) {
            let settings = try Settings.load(
                arguments: rest, environment: environment, for: .export, readFile: readFile)
            var request = ExportRequest(settings: settings)
            (request.user, request.thread, request.since, request.until) = (user, thread, since, until)
            if mistakes.isEmpty { return request }
        } catch {
            mistakes += error.mistakes
        }
        throw ConfigurationErrors(mistakes: mistakes)
    }
}
