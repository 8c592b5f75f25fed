// Loading what is new in the background.
import Parley
import TestBasics
import Testing

@Suite("Catching up", .timeLimit(.minutes(1)))
struct CatchingUp {
    @Test("ends when the server has confirmed a read mark, although no event follows")
    func confirmedMark() async throws {
        let server = ScriptedServer()
        server.addThread("trip", title: "Mountain trip", texts: ["Who comes?"])
        let client = try await ParleyClient.signedIn(server)
        try await client.catchUp()
        await client.suspend()
        try await client.thread("trip").markRead(through: 1)
        // The client is live before the mark is confirmed. The next poll would end after 25 seconds.
        server.delay("POST /v1/receipts", by: .milliseconds(300))
        try await client.catchUp(within: .seconds(15))
        #expect(server.bodies("POST /v1/receipts").count == 1)
        await client.close()
    }
}
