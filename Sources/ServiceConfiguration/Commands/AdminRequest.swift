// `parley admin` on the command line: its actions and their flags. The executable carries them out.
import CommandLineFlags

/// One administrative action on the service's database, the same as through the admin API.
package struct AdminRequest: Sendable, Equatable {
    package enum Action: String, CaseIterable, Sendable {
        case createUser = "create-user"
        case users
        case user
        case suspend
        case unsuspend
        case erase
        case session
        case passwordReset = "password-reset"
        case invitation
        case invitations
        case endInvitation = "end-invitation"
        case thread
        case removeMessage = "remove-message"
        case stats
        case audit
        case createKey = "key create"
        case keys = "key list"
        case revokeKey = "key revoke"

        /// One sentence for the list of actions.
        package var summary: String {
            switch self {
            case .createUser: "Create an account."
            case .users: "List accounts, newest first."
            case .user: "Show an account."
            case .suspend: "End all sessions of an account and refuse new ones."
            case .unsuspend: "Allow a suspended account to sign in again."
            case .erase: "Erase an account; --messages erase also deletes its messages."
            case .session: "Create a session for an account and print its token. The token is shown only once."
            case .passwordReset: "Print a code with which the user sets a new password, once within 24 hours."
            case .invitation: "Create an invitation to register and print its code. The code is shown only once."
            case .invitations: "List invitations, newest first."
            case .endInvitation: "End an invitation. Accounts that were created with it stay."
            case .thread: "Show a thread without its messages."
            case .removeMessage: "Remove a message for everyone."
            case .stats: "Count accounts, threads, messages and events."
            case .audit: "List administrative actions by this command and the admin API, latest first."
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
            case .passwordReset: (["--user"], ["--actor"])
            case .invitation: ([], ["--uses", "--expires-at", "--actor"])
            case .invitations: ([], ["--limit", "--page"])
            case .endInvitation: (["--invitation"], ["--actor"])
            case .thread: (["--thread"], [])
            case .removeMessage: (["--thread", "--message"], ["--actor"])
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
        // The name of an action has one word or two.
        let name = [1, 2].map { words.prefix($0).joined(separator: " ") }
        guard let count = name.firstIndex(where: { Action(rawValue: $0) != nil }).map({ $0 + 1 }),
            let action = Action(rawValue: name[count - 1])
        else {
            let actions = Action.allCases.map(\.rawValue).joined(separator: ", ")
            throw ConfigurationErrors(mistakes: [
                "\(name[words[0] == "key" ? 1 : 0].quoted) is not an action of parley admin. Actions: \(actions)."
            ])
        }
        let own = action.flags.required + action.flags.optional
        let flags = Flags(words.dropFirst(count), of: .admin, own: own, name: "admin \(action.rawValue)")
        let missing = action.flags.required.filter { flags.values[$0] == nil }.map { "\($0) is required." }
        let settings = try Settings.read(flags, sources, mistakes: missing)
        return AdminRequest(action: action, values: flags.values.filter { own.contains($0.key) }, settings: settings)
    }
}
