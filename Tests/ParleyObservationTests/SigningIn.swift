// The session and the members of a thread as models.
import Parley
import ParleyObservation
import TestBasics
import Testing

@MainActor
@Suite("The session model", .timeLimit(.minutes(1)))
struct SigningIn {
    let server = ScriptedServer()

    @Test("signs in and out")
    func signIn() async throws {
        let session = SessionModel(try ParleyClient(signedOut: server))
        let running = Task { await session.run() }
        defer { running.cancel() }
        #expect(!session.isSignedIn)
        await session.signIn(.password(username: "ann", password: "a river of tea"))
        try await eventually("Ann is signed in") { session.isSignedIn && session.account?.user.name == "Ann" }
        #expect(session.error == nil && !session.isBusy)
        await session.signOut()
        try await eventually("nobody is signed in") { !session.isSignedIn && session.account == nil }
    }

    @Test("shows why signing in failed, until the next try")
    func refused() async throws {
        server.refuse("POST /v1/auth/login", "wrong_credentials")
        let session = SessionModel(try ParleyClient(signedOut: server))
        await session.signIn(.password(username: "ann", password: "a river"))
        #expect(session.error?.code == "wrong_credentials" && !session.isBusy)
        server.refuse("POST /v1/auth/login", nil)
        await session.signIn(.password(username: "ann", password: "a river of tea"))
        #expect(session.error == nil)
    }

    @Test("comes with a model of a thread's members")
    func members() async throws {
        server.addThread("trip", title: "Mountain trip")
        let client = try await ParleyClient.signedIn(server)
        let members = MembersModel(client.thread("trip"))
        let running = Task { await members.run() }
        defer { running.cancel() }
        try await eventually("the members are shown") { members.rows.map(\.user.name) == ["Ann", "Ben"] }
        #expect(members.isLoaded)
        await client.close()
    }
}
