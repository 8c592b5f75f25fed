// `parley attachments move` on the command line. The executable carries it out.
import CommandLineFlags

/// A move of all attachments to one place.
package struct MoveRequest: Sendable, Equatable {
    package enum Place: String, CaseIterable, Sendable {
        case s3
        case postgres
    }

    package var place: Place
    package var settings: Settings

    package init(to place: Place, settings: Settings) {
        self.place = place
        self.settings = settings
    }

    /// Parses the words after `attachments`. Throws all mistakes together.
    static func load(
        _ words: [String], environment: [String: String], readFile: (String) throws -> String
    ) throws(ConfigurationErrors) -> MoveRequest {
        guard words.first == "move" else {
            throw ConfigurationErrors(mistakes: [
                "\((words.first ?? "").quoted) is not an action of parley attachments. Actions: move."
            ])
        }
        let known = Setting.all.filter { $0.commands.contains(.attachments) }.map(\.flag)
        let flags = Flags(words.dropFirst(), known: Set(known + ["--to"]), of: "attachments move")
        let place = flags.values["--to"].flatMap(Place.init)
        let rest = known.compactMap { flag in flags.values[flag].map { "\(flag)=\($0)" } }
        var mistakes = flags.mistakes
        if place == nil { mistakes.append("--to must be s3 or postgres.") }
        do throws(ConfigurationErrors) {
            let settings = try Settings.load(
                arguments: rest, environment: environment, for: .attachments, readFile: readFile)
            if settings.s3Endpoint == nil {
                mistakes.append("PARLEY_S3_ENDPOINT is not set: the command needs the nodes' PARLEY_S3_… settings.")
            }
            if let place, mistakes.isEmpty { return MoveRequest(to: place, settings: settings) }
        } catch {
            mistakes += error.mistakes
        }
        throw ConfigurationErrors(mistakes: mistakes)
    }
}
