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
    static func load(_ words: [String], _ sources: SettingsSources) throws(ConfigurationErrors) -> MoveRequest {
        guard words.first == "move" else {
            throw ConfigurationErrors(mistakes: [
                "\((words.first ?? "").quoted) is not an action of parley attachments. Actions: move."
            ])
        }
        let flags = Flags(words.dropFirst(), of: .attachments, own: ["--to"], name: "attachments move")
        let place = flags.values["--to"].flatMap(Place.init)
        let mistakes = place == nil ? ["--to must be s3 or postgres."] : []
        let settings = try Settings.read(flags, sources, mistakes: mistakes) { settings in
            settings.s3Endpoint == nil
                ? "PARLEY_S3_ENDPOINT is not set: the command needs the nodes' PARLEY_S3_… settings." : nil
        }
        guard let place else { throw ConfigurationErrors(mistakes: mistakes) }
        return MoveRequest(to: place, settings: settings)
    }
}
