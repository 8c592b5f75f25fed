// The client as an app sees it: its settings, its life, and who is signed in.
import Foundation

/// A client of one Parley server for one signed-in person.
///
/// It keeps a copy of the person's threads and messages in a store, follows the server with one long poll, and sends what
/// the app writes until the server has confirmed it. Lists read the store, so they work offline. All calls may be made
/// from any task, and none blocks a thread.
public actor ParleyClient {
    /// How a client is made.
    public struct Configuration: Sendable {
        /// The server's address: `https://chat.example.com`.
        public var server: URL
        /// Where the store is.
        public var store: StoreLocation
        /// The name under which the user finds this device in the list of devices.
        public var deviceName: String?
        /// What sends the requests.
        public var transport: any HTTPTransport
        /// Nil: a file in the store's directory that only this user of the system may read.
        public var tokens: (any TokenStorage)?

        /// Makes a configuration.
        public init(
            server: URL, store: StoreLocation, deviceName: String? = nil,
            transport: any HTTPTransport = SystemTransport(), tokens: (any TokenStorage)? = nil
        ) {
            self.server = server
            self.store = store
            self.deviceName = deviceName
            self.transport = transport
            self.tokens = tokens
        }
    }

    nonisolated let parts: Parts
    private nonisolated let runner: Runner
    private let configuration: Configuration
    /// What the app wants: `suspend` or `resume`.
    private var isSuspended = false
    /// Calls of `catchUp` that are not done. The client works for them although the app rests.
    private var refreshCount = 0

    /// Opens the store without blocking the calling thread: an app with a screen calls this. Otherwise like `init`.
    public static func open(_ configuration: Configuration) async throws -> ParleyClient {
        try await Task.detached { try ParleyClient(configuration) }.value
    }

    /// Opens the store. If somebody is signed in, the client connects at once. Reads and writes files before it returns.
    ///
    /// Throws `ParleyError.storeInUse` if another client has opened the same directory, and `storeFailed`.
    public init(_ configuration: Configuration) throws {
        self.configuration = configuration
        parts = try Parts(configuration)
        runner = Runner(parts)
        if let token = try parts.tokens.load() {
            parts.connection.setToken(token)
            runner.start()
        } else {
            parts.live.setStatus(.signedOut(nil))
        }
    }

    // MARK: Life

    /// The connection to the server, as it changes.
    public nonisolated var status: LiveValue<ConnectionStatus> {
        LiveValue(hub: parts.store.changes) {
            $0.status
        } fetch: { [live = parts.live] in
            live.status
        }
    }

    /// The connection to the server at this moment.
    public nonisolated var currentStatus: ConnectionStatus { parts.live.status }

    /// Stops the poll and the outbox, for example while the app is in the background. The device then receives alerts.
    public func suspend() async {
        isSuspended = true
        await rest()
    }

    /// Ends the work, unless something wants it again while it is ending.
    private func rest() async {
        guard isSuspended, refreshCount == 0, !isSignedOut else { return }
        await runner.stop()
        if isSuspended, refreshCount == 0, !isSignedOut { parts.live.setStatus(.suspended) }
    }

    private var isSignedOut: Bool { if case .signedOut = parts.live.status { true } else { false } }

    /// Continues after `suspend`.
    public func resume() {
        isSuspended = false
        if !isSignedOut { runner.start() }
    }

    /// Tries again at once what waits for the server. Call this when the network is back.
    public nonisolated func retryNow() {
        parts.store.changes.publish(Changes(retry: true))
    }

    /// Loads what is new and sends what waits, then returns: for a background refresh, or after an alert. Throws
    /// `ParleyError.noAnswer` if that takes longer than `limit`.
    public func catchUp(within limit: Duration = .seconds(25)) async throws {
        guard !isSignedOut else { throw ParleyError.signedOut }
        refreshCount += 1
        runner.start()
        retryNow()
        let isDone = await settles(within: limit)
        refreshCount -= 1
        await rest()
        if case .signedOut(let problem) = parts.live.status {
            throw problem.map { .refused($0) } ?? ParleyError.signedOut
        }
        guard isDone else { throw ParleyError.noAnswer("not everything arrived within \(limit)") }
    }

    /// Ends the client's work and closes the store, so that another client may open it. All lists end.
    public func close() async {
        await runner.stop()
        try? parts.store.close()
    }

    /// Waits until the client is live and nothing is left to send, or until the session has ended.
    private func settles(within limit: Duration) async -> Bool {
        let parts = parts
        let quiet = LiveValue(hub: parts.store.changes) {
            $0.all || $0.status || $0.outbox || $0.marks || !$0.threads.isEmpty
        } fetch: {
            let waiting = try await parts.store.read { db in
                try db.one(
                    """
                    select exists (select 1 from outbox where state = 'queued')
                        or exists (select 1 from mark where confirmed is null)
                    """) as Bool? ?? false
            }
            if case .signedOut = parts.live.status { return true }
            return parts.live.status == .live && !waiting
        }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await isQuiet in quiet where isQuiet { return true }
                return false
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }

    // MARK: Accounts

    /// Who is signed in, as the server has the profile; nil if nobody is.
    public nonisolated var account: LiveValue<Account?> {
        let store = parts.store
        return LiveValue(hub: store.changes) {
            $0.all || $0.account
        } fetch: {
            try await store.read { db in
                try db.value("account").map { try JSONDecoder().decode(Account.self, from: Data($0.utf8)) }
            }
        }
    }

    /// Signs in on this device and connects. Another person must sign out first.
    @discardableResult
    public func signIn(_ credentials: Credentials) async throws -> Account {
        try await begin(parts.connection.call(.auth.signIn(credentials, deviceName: configuration.deviceName).raw))
    }

    /// Creates an account with a password, and signs in. Some services need the code of an `invitation`: then this throws
    /// a problem with the code `.invitationRequired`.
    @discardableResult
    public func register(
        username: String, password: String, name: String, invitation: String? = nil
    ) async throws -> Account {
        try await begin(
            parts.connection.call(
                .auth.register(
                    username: username, password: password, name: name, invitation: invitation,
                    deviceName: configuration.deviceName
                ).raw))
    }

    /// Creates an account with an e-mail address: the server mails a code, and `signIn(.code(…))` completes the account.
    public func register(email: String, name: String, invitation: String? = nil) async throws {
        try await parts.connection.call(.auth.register(email: email, name: name, invitation: invitation))
    }

    /// Asks for a mailed code. The server does not say whether there is such an account.
    public func requestCode(email: String) async throws {
        try await parts.connection.call(.auth.requestCode(email: email))
    }

    /// Sets a forgotten password, and signs in. `name` is the username or the e-mail address, `code` a mailed code of the
    /// address (``requestCode(email:)``), or the operator's code. All other devices are signed out.
    @discardableResult
    public func setPassword(of name: String, code: String, to new: String) async throws -> Account {
        try await begin(
            parts.connection.call(
                .auth.setPassword(of: name, code: code, to: new, deviceName: configuration.deviceName).raw))
    }

    /// Ends the session and deletes all data of the account on this device, unsent messages too. If the server does not
    /// answer, the session stays in the list of devices until the user ends it on another device.
    public func signOut() async {
        await runner.stop()
        isSuspended = false
        var logout = Call<Void>.auth.signOut()
        logout.timeout = .seconds(5)
        try? await parts.connection.call(logout)
        try? parts.tokens.save(nil)
        parts.connection.setToken(nil)
        await parts.erase(keepingUnsent: false)
        await parts.outbox.files.removeUnneeded { [] }
        parts.live.setStatus(.signedOut(nil))
    }

    private func begin(_ answer: JSONValue) async throws -> Account {
        guard let user = answer["user"], let userID = user["id"]?.string,
            let token = answer["session"]?["token"]?.string
        else { throw ParleyError.unreadableAnswer("the answer of the sign-in has no user or no token") }
        await runner.stop()
        isSuspended = false
        // A crash between these steps must not leave one person's data with another one's token.
        try parts.tokens.save(nil)
        var session = answer["session"] ?? [:]
        session["token"] = nil
        try await parts.store.write { [session] fold in
            // Unsent messages of the same person wait for this moment.
            try fold.erase(keepingUnsent: fold.db.value("user_id") == userID)
            try fold.db.setValue("user_id", userID)
            try fold.db.setValue("account", user.text)
            try fold.db.setValue("session", session.text)
            fold.changes.all = true
        }
        parts.live.clear()
        try parts.tokens.save(token)
        parts.connection.setToken(token)
        runner.start()
        return try JSONDecoder().decode(Account.self, from: Data(user.text.utf8))
    }

    // MARK: Calls

    /// Makes any call of the contract. The store learns of a change by its event, as on every other device.
    public nonisolated func call<Answer>(_ call: Call<Answer>) async throws -> Answer {
        try await parts.connection.call(call)
    }
}

/// How a person proves who they are.
@nonexhaustive
public enum Credentials: Sendable, Hashable {
    /// A username, or an e-mail address, and the password.
    case password(username: String, password: String)
    /// A mailed code.
    case code(email: String, code: String)
    /// A token of the app's own server, a JWT.
    case delegated(token: String)
}
