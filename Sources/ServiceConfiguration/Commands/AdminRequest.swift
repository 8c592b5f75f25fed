// `parley admin`: what is asked for on the command line. What it does is the executable's affair.

/// One thing to be done in the database of a service, as its admin API would.
package struct AdminRequest: Sendable, Equatable {
    package enum Action: String, CaseIterable, Sendable {
        case createUser = "create-user"
        case users
        case user
        case suspend
        case unsuspend
        case erase
        case session
        case thread
        case removeMessage = "remove-message"
        case stats
        case audit

        /// One sentence for the list of actions.
        package var summary: String {
            switch self {
            case .createUser: "Make an account."
            case .users: "List accounts, the newest first."
            case .user: "Show an account."
            case .suspend: "End an account's sessions and let it have no new ones."
            case .unsuspend: "Let a suspended account be signed in to again."
            case .erase: "Erase an account, and with --messages erase what it has said."
            case .session: "Issue a session for an account; prints its token, once."
            case .thread: "Show a thread, without what is said in it."
            case .removeMessage: "Remove a message for everyone."
            case .stats: "Show how much there is of what."
            case .audit: "List what was done by these and the admin API, the latest first."
            }
        }

        /// Those that must be given, and those that may.
        package var flags: (required: [String], optional: [String]) {
            switch self {
            case .createUser: (["--name"], ["--username", "--password-file", "--actor"])
            case .users: ([], ["--username", "--limit", "--page"])
            case .user: (["--user"], [])
            case .suspend, .unsuspend: (["--user"], ["--actor"])
            case .erase: (["--user"], ["--messages", "--actor"])
            case .session: (["--user"], ["--device-name", "--actor"])
            case .thread: (["--thread"], [])
            case .removeMessage: (["--thread", "--message"], ["--actor"])
            case .stats: ([], [])
            case .audit: ([], ["--limit", "--page"])
            }
        }
    }

    package var action: Action
    /// By flag. What is legal as a value is judged where it is used.
    package var values: [String: String]
    package var settings: Settings

    package init(action: Action, values: [String: String], settings: Settings) {
        self.action = action
        self.values = values
        self.settings = settings
    }

    /// Throws with everything that is wrong.
    static func load(
        _ action: Action, arguments: [String], environment: [String: String], readFile: (String) throws -> String
    ) throws(ConfigurationErrors) -> AdminRequest {
        let known = Setting.all.filter { $0.commands.contains(.admin) }.map(\.flag)
        let own = action.flags.required + action.flags.optional
        let flags = Flags(arguments, known: Set(known + own), of: "admin \(action.rawValue)")
        let missing = action.flags.required.filter { flags.values[$0] == nil }.map { "\($0) is needed." }
        let rest = known.compactMap { flag in flags.values[flag].map { "\(flag)=\($0)" } }
        var mistakes = flags.mistakes + missing
        do throws(ConfigurationErrors) {
            let settings = try Settings.load(
                arguments: rest, environment: environment, for: .admin, readFile: readFile)
            if mistakes.isEmpty {
                return AdminRequest(
                    action: action, values: flags.values.filter { own.contains($0.key) }, settings: settings)
            }
        } catch {
            mistakes += error.mistakes
        }
        throw ConfigurationErrors(mistakes: mistakes)
    }
}
