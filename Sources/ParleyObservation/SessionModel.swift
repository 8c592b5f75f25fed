// Signing in and out, and whether the client is connected.
import Observation
import Parley

/// The root of an app's state: who is signed in. Show the sign-in page while `isSignedIn` is false.
@MainActor
@Observable
public final class SessionModel {
    /// The connection to the server.
    public private(set) var status: ConnectionStatus
    /// Who is signed in; nil if nobody is, or if the store has not been read yet.
    public private(set) var account: Account?
    /// Whether a call of this model waits for the server: disable the button meanwhile.
    public private(set) var isBusy = false
    /// Why the last call failed. Set it to nil when the message has been read.
    public var error: ParleyError?

    /// Whether somebody is signed in. The inbox can then be shown, also while the client is offline.
    public var isSignedIn: Bool { if case .signedOut = status { false } else { true } }

    @ObservationIgnored private let parley: ParleyClient
    @ObservationIgnored private let shared = SharedRun()

    /// Shows who uses this client.
    public init(_ parley: ParleyClient) {
        self.parley = parley
        status = parley.currentStatus
    }

    /// Follows the status until the task is cancelled. Several views may run the same model.
    public func run() async {
        await shared.join { [self] in
            await together(
                { await self.parley.status.follow { self.status = $0 } },
                { await self.parley.account.follow { self.account = $0 } })
        }
    }

    /// Signs in. `error` has the reason if it fails.
    public func signIn(_ credentials: Credentials) async {
        await perform { try await self.parley.signIn(credentials) }
    }

    /// Creates an account and signs in. Some services need the code of an `invitation`.
    public func register(username: String, password: String, name: String, invitation: String? = nil) async {
        await perform {
            try await self.parley.register(
                username: username, password: password, name: name, invitation: invitation)
        }
    }

    /// Lets the server mail a code to an existing account. Sign in with `.code(email:code:)` then.
    public func requestCode(email: String) async {
        await perform { try await self.parley.requestCode(email: email) }
    }

    /// Sets a forgotten password and signs in, by a mailed code or the operator's. `name` is the username or the address.
    public func setPassword(of name: String, code: String, to new: String) async {
        await perform { try await self.parley.setPassword(of: name, code: code, to: new) }
    }

    /// Ends the session and deletes the store's data.
    public func signOut() async {
        await perform { await self.parley.signOut() }
    }

    private func perform(_ call: () async throws -> Void) async {
        isBusy = true
        error = nil
        error = await failure(of: call)
        isBusy = false
    }
}

/// Returns why a call failed; nil if it succeeded or was cancelled. The client throws no other errors.
@MainActor
func failure(of call: () async throws -> Void) async -> ParleyError? {
    do {
        try await call()
        return nil
    } catch let error as ParleyError {
        return error
    } catch {
        return nil
    }
}
