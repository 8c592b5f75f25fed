// The actions of `parley admin`: what the admin API does, for anyone who may connect to the database. They need no node
// and no admin token. Nodes learn of them through the log.
import API
import Basics
import Credentials
import Domain
import FoundationEssentials
import Logging
import Postgres
import ServiceConfiguration
import Store

/// One action of `parley admin`.
package struct AdminCommand: Sendable {
    private let store: Store
    private let settings: Settings
    /// The flags' values by their names.
    private let values: [String: String]
    private let logger: Logger

    /// Returns the answer as JSON, or nil for an action that answers nothing. Expects a schema that is up to date.
    package static func run(_ request: AdminRequest, logger: Logger) async throws -> String? {
        do {
            return try await Database.open(request.settings, logger: logger) { database in
                // An administrator's command never migrates: that is the operator's decision.
                try await database.prepareSchema(.off, logger: logger)
                let client = PostgresClient(database.settings, logger: logger)
                do {
                    let store = Store(client)
                    // Actions write events. Without a node that ever ran, the log has no partition for them yet.
                    _ = try await store.extendLog(days: request.settings.logDays)
                    let command = AdminCommand(
                        store: store, settings: request.settings, values: request.values, logger: logger)
                    let answer = try await command.run(request.action)
                    await client.shutdown()
                    return answer.map { String(decoding: $0.utf8, as: UTF8.self) }
                } catch {
                    await client.shutdown()
                    throw error
                }
            }
        } catch let problem as Problem {
            throw StartError(sentence(problem, request.values))
        }
    }

    /// The problem in words. One about something that does not exist names the id that was given.
    private static func sentence(_ problem: Problem, _ values: [String: String]) -> String {
        let flag: String? =
            switch problem.code {
            case .userNotFound: "--user"
            case .threadNotFound: "--thread"
            case .messageNotFound: "--message"
            case .invitationNotFound: "--invitation"
            case .keyNotFound: "--key"
            default: nil
            }
        guard let flag, let id = values[flag] else { return problem.sentence() }
        return "\(problem.description.dropLast()) (\(flag) \(id))."
    }

    /// Returns nil for an action that answers nothing.
    private func run(_ action: AdminRequest.Action) async throws -> JSONText? {
        switch action {
        case .createUser:
            return try await createUser()
        case .users:
            let username = try value("--username") { text throws(Invalid) in try Username(text: text) }
            let request = try page()
            return .list(
                "users", try await store.adminUsers(UserFilters(username: username), request), limit: request.limit)
        case .user:
            return try await store.adminUser(user())
        case .suspend, .unsuspend:
            _ = try await store.suspend(user(), isSuspended: action == .suspend, by: actor)
            return nil
        case .erase:
            guard let fate = MessagesFate(rawValue: values["--messages"] ?? "keep") else {
                throw StartError("--messages must be keep or erase.")
            }
            _ = try await store.eraseUser(user(), erasesMessages: fate == .erase, by: actor)
            return nil
        case .session:
            return try await issueSession()
        case .resetPassword:
            return try await store.resetPassword(of: user(), by: actor)
        case .createInvitation:
            return try await store.makeInvitation(newInvitation(), by: actor)
        case .invitations:
            let request = try page()
            return .list("invitations", try await store.invitations(request), limit: request.limit)
        case .revokeInvitation:
            try await store.deleteInvitation(id("--invitation"), by: actor)
            return nil
        case .thread:
            return try await store.adminThread(id("--thread"))
        case .deleteMessage:
            try await store.removeMessage(id("--message"), in: id("--thread"), by: actor)
            return nil
        case .stats:
            return try await store.stats()
        case .audit:
            let request = try page()
            return .list("entries", try await store.audit(request), limit: request.limit)
        case .createKey:
            return try await createKey()
        case .keys:
            let request = try page()
            return .list("keys", try await store.adminKeys(request), limit: request.limit)
        case .revokeKey:
            try await store.deleteAdminKey(id("--key"), by: actor)
            return nil
        }
    }

    private func createUser() async throws -> JSONText {
        let username = try value("--username") { text throws(Invalid) in try Username(text: text) }
        let name = try value("--name") { text throws(Invalid) in try DisplayName(text: text) }
        guard let name else { throw StartError("--name is required.") }
        let id = UserID.make()
        var hash: String?
        if let path = values["--password-file"] {
            guard username != nil else { throw StartError("--password-file needs --username.") }
            // A file, because everyone on the machine can see a flag.
            let line = try String(contentsOfFile: path, encoding: .utf8).prefix { !$0.isNewline }
            let password = try Self.read("--password-file") { () throws(Invalid) in try Password(text: String(line)) }
            hash = try await settings.makePasswordHasher().hash(password.text, flow: "admin")
        } else {
            let way =
                username == nil
                ? "`parley admin session create` prints a token"
                : "give its user a code by `parley admin user reset-password`"
            logger.notice("the account has no password; \(way)", metadata: ["user": "\(id)"])
        }
        return try await store.createUser(
            id, username: username?.text, key: username?.key, name: name.text,
            words: name.directoryWords(with: username), passwordHash: hash, by: actor)
    }

    private func issueSession() async throws -> JSONText {
        let device = try value("--device-name") { text throws(Invalid) in try DeviceName(text: text) }
        let (session, token) = NewSession.make(device, settings.limits)
        return .signedIn(try await store.issueSession(session, for: user(), by: actor), token)
    }

    private func createKey() async throws -> JSONText {
        let name = try value("--name") { text throws(Invalid) in try AdminKeyName(text: text) }
        let scopes = try value("--scopes") { text throws(Invalid) in
            try AdminScope.list(.array(text.split(separator: ",").map { .string(String($0)) }))
        }
        let expiresAt = try value("--expires-at") { text throws(Invalid) in try Timestamp(text: text) }
        guard let name, let scopes else { throw StartError("--name and --scopes are required.") }
        let draft = try Self.read("--expires-at") { () throws(Invalid) in
            try AdminKeyDraft(name: name, scopes: scopes, expiresAt: expiresAt)
        }
        return try await store.createAdminKey(draft, by: actor)
    }

    private func newInvitation() throws -> NewInvitation {
        let useCount = try value("--uses") { text throws(Invalid) in
            guard let count = Int64(text) else { throw Invalid("Must be a whole number.") }
            return count
        }
        let expiresAt = try value("--expires-at") { text throws(Invalid) in try Timestamp(text: text) }
        do {
            return try NewInvitation(useCount: useCount ?? 1, expiresAt: expiresAt, nowMicros: WallClock.micros)
        } catch {
            throw StartError(
                error.fields.map { "--\($0.field.replacing("_", with: "-")): \($0.detail)" }.joined(separator: " "))
        }
    }

    private var actor: AdminActor { AdminActor(name: values["--actor"] ?? "command line", requestID: nil) }

    private func user() throws -> UserID { try id("--user") }

    private func id<Kind>(_ flag: String) throws -> Identifier<Kind> {
        guard let text = values[flag], let id = Identifier<Kind>(parsing: text) else {
            throw StartError("\(flag) must be an id.")
        }
        return id
    }

    private func page() throws -> PageRequest {
        let limit = values["--limit"].map { Int($0) ?? 0 } ?? PageRequest.limitDefault
        guard (1...PageRequest.limitMax).contains(limit) else {
            throw StartError("--limit must be a whole number from 1 to \(PageRequest.limitMax).")
        }
        return PageRequest(limit: limit, after: try value("--page") { text throws(Invalid) in try PageKey(text: text) })
    }

    private func value<Value>(_ flag: String, _ parse: (String) throws(Invalid) -> Value) throws -> Value? {
        guard let text = values[flag] else { return nil }
        return try Self.read(flag) { () throws(Invalid) in try parse(text) }
    }

    private static func read<Value>(_ flag: String, _ parse: () throws(Invalid) -> Value) throws -> Value {
        do {
            return try parse()
        } catch {
            throw StartError("\(flag): \(error.fields.map(\.detail).joined(separator: " "))")
        }
    }
}
