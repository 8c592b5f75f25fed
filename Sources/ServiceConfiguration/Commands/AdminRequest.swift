// `parley admin` on the command line: its actions and their flags. The executable carries them out.
import CommandLineFlags

/// One administrative action on the service's database, the same as through the admin API.
package struct AdminRequest: Sendable, Equatable {
    package enum Action: String, CaseIterable, Sendable {
        case createUser = "user create"
        case users = "user list"
        case user = "user show"
        case suspend = "user suspend"
        case unsuspend = "user unsuspend"
        case resetPassword = "user reset-password"
        case erase = "user erase"
        case session = "session create"
        case createInvitation = "invitation create"
        case invitations = "invitation list"
        case revokeInvitation = "invitation revoke"
        case createKey = "key create"
        case keys = "key list"
        case revokeKey = "key revoke"
        case thread = "thread show"
        case deleteMessage = "message delete"
        case stats = "stats show"
        case audit = "audit list"

        /// One sentence for the list of actions.
        package var summary: String {
            switch self {
            case .createUser: "Create an account."
            case .users: "List accounts, newest first."
            case .user: "Show an account."
            case .suspend: "End all sessions of an account and refuse new ones."
            case .unsuspend: "Allow a suspended account to sign in again."
            case .erase: "Erase an account; --messages erase also deletes its messages."
            case .session: "Create a session for an account and print its token, once."
            case .resetPassword: "Print a code with which the user sets a new password, once within 24 hours."
            case .createInvitation: "Create an invitation to register and print its code, once."
            case .invitations: "List invitations, newest first."
            case .revokeInvitation: "Revoke an invitation. Accounts that were created with it stay."
            case .thread: "Show a thread without its messages."
            case .deleteMessage: "Delete a message for everyone."
            case .stats: "Count accounts, threads, messages and events."
            case .audit: "List actions of this command and of the admin API, latest first."
            case .createKey:
                "Create a key for a program. Its token is printed once. --scopes has commas."
            case .keys: "List keys, newest first, without their tokens."
            case .revokeKey: "Revoke a key. Within a second no node accepts its token."
            }
        }

        /// The required flags and the optional flags.
        package var flags: (required: [String], optional: [String]) {
            switch self {
            case .createUser: (["--name"], ["--username", "--password-file", "--actor"])
            case .users: ([], ["--username", "--limit", "--page"])
            case .user: (["--user"], [])
            case .suspend, .unsuspend: (["--user"], ["--actor"])
            case .erase: (["--user"], ["--messages", "--actor"])
            case .session: (["--user"], ["--device-name", "--actor"])
            case .resetPassword: (["--user"], ["--actor"])
            case .createInvitation: ([], ["--uses", "--expires-at", "--actor"])
            case .invitations: ([], ["--limit", "--page"])
            case .revokeInvitation: (["--invitation"], ["--actor"])
            case .thread: (["--thread"], [])
            case .deleteMessage: (["--thread", "--message"], ["--actor"])
            case .stats: ([], [])
            case .audit, .keys: ([], ["--limit", "--page"])
            case .createKey: (["--name", "--scopes"], ["--expires-at", "--actor"])
            case .revokeKey: (["--key"], ["--actor"])
            }
        }
    }

    package var action: Action
    /// Values by flag. The executable validates them.
    package var values: [String: String]
    package var settings: Settings

    package init(action: Action, values: [String: String], settings: Settings) {
        self.action = action
        self.values = values
        self.settings = settings
    }

    /// Parses the words after `admin`, at least one. Throws all mistakes together.
    static func load(_ words: [String], _ sources: SettingsSources) throws(ConfigurationErrors) -> AdminRequest {
        let name = words.prefix(2).prefix { !$0.hasPrefix("-") }.joined(separator: " ")
        guard let action = Action(rawValue: name) else { throw unknown(name) }
        let own = action.flags.required + action.flags.optional
        let flags = Flags(words.dropFirst(2), of: .admin, own: own, name: "admin \(action.rawValue)")
        let missing = action.flags.required.filter { flags.values[$0] == nil }.map { "\($0) is required." }
        let settings = try Settings.read(flags, sources, mistakes: missing)
        return AdminRequest(action: action, values: flags.values.filter { own.contains($0.key) }, settings: settings)
    }

    /// An error that names the actions on the same subject, or all subjects.
    private static func unknown(_ name: String) -> ConfigurationErrors {
        let all = Action.allCases.map(\.rawValue)
        let subject = name.prefix { $0 != " " }
        let same = all.filter { $0.hasPrefix("\(subject) ") }
        let subjects = all.map { String($0.prefix { $0 != " " }) }.reduce(into: [String]()) { list, word in
            if list.last != word { list.append(word) }
        }
        let hint =
            same.isEmpty
            ? "Actions begin with one of: \(subjects.joined(separator: ", "))."
            : "Actions: \(same.joined(separator: ", "))."
        // The name may be of two words in one, or of one.
        let near = Suggestion.near(name.replacing(" ", with: "-"), among: all.map { $0.replacing(" ", with: "-") })
        let meant = all.filter { near.contains($0.replacing(" ", with: "-")) }
        return ConfigurationErrors(mistakes: [
            "\(name.quoted) is not an action of parley admin. \(hint)" + Suggestion.question(named: meant)
        ])
    }
}
