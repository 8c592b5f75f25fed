// The inbox as a model.
import Observation
import Parley
import ParleyObservation
import TestBasics
import Testing

@MainActor
@Suite("The inbox model", .timeLimit(.minutes(1)))
struct Inbox {
    let server = ScriptedServer()

    @Test("shows the threads, and each change of them")
    func rows() async throws {
        server.addThread("trip", title: "Mountain trip", texts: ["Who comes?"])
        let inbox = InboxModel(try await .signedIn(server))
        #expect(inbox.rows.isEmpty && !inbox.isLoaded)
        let running = Task { await inbox.run() }
        defer { running.cancel() }

        try await eventually("the thread is shown") { inbox.rows.map(\.thread.title) == ["Mountain trip"] }
        #expect(inbox.isLoaded)
        try await eventually("the client is live") { inbox.status == .live && inbox.unreadTotal == 1 }
        server.send("trip", "At eight")
        try await eventually("the message is shown") { inbox.rows.first?.thread.lastMessage?.text == "At eight" }
        try await eventually("the message counts") { inbox.unreadTotal == 2 }
    }

    @Test("shows the threads of a new filter in place of the old ones")
    func filter() async throws {
        server.addThread("trip", title: "Mountain trip")
        server.addThread("old", title: "Last year", archived: true)
        let inbox = InboxModel(try await .signedIn(server))
        let running = Task { await inbox.run() }
        defer { running.cancel() }

        try await eventually("the active thread is shown") { inbox.rows.map(\.id) == ["trip"] }
        inbox.filter = .archived
        #expect(inbox.rows.map(\.id) == ["trip"], "The old rows stay until the new ones are there.")
        try await eventually("the archived thread is shown") { inbox.rows.map(\.id) == ["old"] }
    }

    @Test("notifies its observers of a change")
    func observation() async throws {
        server.addThread("trip", title: "Mountain trip")
        let inbox = InboxModel(try await .signedIn(server))
        let (changes, changed) = AsyncStream.makeStream(of: Void.self)
        withObservationTracking {
            _ = inbox.rows
        } onChange: {
            changed.yield()
        }
        let running = Task { await inbox.run() }
        defer { running.cancel() }
        var iterator = changes.makeAsyncIterator()
        await iterator.next()
        try await eventually("the change is there") { !inbox.rows.isEmpty }
    }

    @Test("follows the inbox while any of several views shows it")
    func shared() async throws {
        server.addThread("trip", title: "Mountain trip")
        let inbox = InboxModel(try await .signedIn(server))
        let first = Task { await inbox.run() }
        let second = Task { await inbox.run() }
        try await eventually("the thread is shown") { !inbox.rows.isEmpty }

        first.cancel()
        await first.value
        server.send("trip", "One")
        try await eventually("the model still follows") { inbox.rows[0].thread.lastMessage?.text == "One" }

        second.cancel()
        await second.value
        server.send("trip", "Two")
        let third = Task { await inbox.run() }
        defer { third.cancel() }
        try await eventually("the model follows again") { inbox.rows[0].thread.lastMessage?.text == "Two" }
    }

    @Test("takes a new filter after one view has handed it to the next")
    func handedOver() async throws {
        server.addThread("trip", title: "Mountain trip")
        server.addThread("old", title: "Last year", archived: true)
        let inbox = InboxModel(try await .signedIn(server))
        var running = Task { await inbox.run() }
        for round in 0..<10 {
            let expected: InboxFilter = round.isMultiple(of: 2) ? .active : .archived
            inbox.filter = expected
            try await eventually("round \(round)") {
                inbox.rows.map(\.id) == (expected == .active ? ["trip"] : ["old"])
            }
            let next = Task { await inbox.run() }
            running.cancel()
            if round.isMultiple(of: 3) { await running.value } else { await Task.yield() }
            running = next
        }
        running.cancel()
    }

    @Test("ends when the client is closed")
    func closed() async throws {
        let client = try await ParleyClient.signedIn(server)
        let inbox = InboxModel(client)
        let running = Task { await inbox.run() }
        try await eventually("the inbox is loaded") { inbox.isLoaded }
        await client.close()
        await running.value
    }
}
