// `parley outbox install` on the command line. The executable carries it out.
import CommandLineFlags

/// An installation of the outbox in a database of another program.
package struct OutboxRequest: Sendable, Equatable {
    /// A libpq connection string. May contain a password.
    package var url: String

    package init(url: String) {
        self.url = url
    }

    /// Parses the words after `outbox`.
    static func load(_ words: [String]) throws(ConfigurationErrors) -> OutboxRequest {
        guard words.first == "install" else {
            throw ConfigurationErrors(mistakes: [
                "\((words.first ?? "").quoted) is not an action of parley outbox. Actions: install."
            ])
        }
        let format = ValueFormat<String>.connectionString
        guard words.count == 2, let url = format.parse(words[1]) else {
            throw ConfigurationErrors(mistakes: [
                "parley outbox install needs one value, the database: \(format.expectation)."
            ])
        }
        return OutboxRequest(url: url)
    }
}
