// A conversation as a model.
import Parley
import ParleyObservation
import TestBasics
import Testing

@MainActor
@Suite("The timeline model", .timeLimit(.minutes(1)))
struct Conversation {
    let server = ScriptedServer()

    /// Runs a model of a thread with two messages while `body` runs.
    private func follow(_ body: (TimelineModel, ParleyClient) async throws -> Void) async throws {
        server.addThread("trip", title: "Mountain trip", texts: ["Who comes?", "At eight"])
        let client = try await ParleyClient.signedIn(server)
        for await status in client.status where status == .live { break }
        let timeline = TimelineModel(client.thread("trip"))
        let running = Task { await timeline.run() }
        defer { running.cancel() }
        try await eventually("the messages are shown") { timeline.texts == ["Who comes?", "At eight"] }
        try await body(timeline, client)
        await client.close()
    }

    @Test("shows messages, the thread, and who types")
    func rows() async throws {
        try await follow { timeline, _ in
            try await eventually("the thread is shown") { timeline.thread?.thread.title == "Mountain trip" }
            #expect(timeline.isLoaded && timeline.isAtStart && timeline.isAtEnd)
            server.add("typing", "trip", ["user_id": "ben"])
            try await eventually("Ben types") { timeline.typing == ["ben"] }
            #expect(timeline.name(of: "ben") == "Ben")
            server.send("trip", "Me")
            try await eventually("the message is shown") { timeline.texts.last == "Me" && timeline.typing.isEmpty }
        }
    }

    @Test("marks read what was shown")
    func marks() async throws {
        try await follow { timeline, client in
            #expect(timeline.thread?.thread.unreadCount ?? 2 == 2)
            for row in timeline.rows { timeline.didShow(row) }
            try await eventually("nothing is unread") { timeline.thread?.thread.unreadCount == 0 }
            #expect(try await client.unreadTotal.current == 0)
        }
    }

    @Test("keeps the draft, and sends it")
    func drafts() async throws {
        server.refuse("POST /v1/threads/trip/messages", "not_allowed")
        try await follow { timeline, client in
            timeline.draft = "I "
            timeline.draft = "I come"
            try await eventually("typing is reported") { !server.bodies("PUT /v1/threads/trip/typing").isEmpty }

            let again = TimelineModel(client.thread("trip"))
            let running = Task { await again.run() }
            defer { running.cancel() }
            try await eventually("the draft is shown again") { again.draft == "I come" }
            #expect(server.bodies("PUT /v1/threads/trip/typing").count == 1, "Showing a draft is not typing.")
            await again.send()
            #expect(again.draft.isEmpty && again.error == nil)
            try await eventually("the message is in the timeline") { again.outgoing.map(\.text) == ["I come"] }
            await again.send()
            #expect(again.outgoing.count == 1, "An empty draft is not sent.")
        }
    }

    @Test("retries and discards a message that the server refused")
    func refused() async throws {
        server.refuse("POST /v1/threads/trip/messages", "not_allowed")
        try await follow { timeline, _ in
            timeline.draft = "Hello"
            await timeline.send()
            try await eventually("the message is refused") { timeline.outgoing.first?.hasFailed == true }
            await timeline.retry(try #require(timeline.outgoing.first))
            try await eventually("the message is refused again") {
                server.bodies("POST /v1/threads/trip/messages").count == 2
                    && timeline.outgoing.first?.hasFailed == true
            }
            await timeline.discard(try #require(timeline.outgoing.first))
            try await eventually("the message is gone") { timeline.outgoing.isEmpty }
            #expect(timeline.error == nil)
        }
    }

    @Test("shows why a call failed")
    func errors() async throws {
        server.refuse("PUT /v1/threads/trip/messages/trip-1/reactions/👍", "message_deleted")
        try await follow { timeline, _ in
            await timeline.toggle("👍", on: try #require(timeline.rows.compactMap(\.message).first))
            #expect(timeline.error?.code == "message_deleted")
        }
    }
}

extension TimelineModel {
    fileprivate var texts: [String] { rows.compactMap(\.message?.text) }

    fileprivate var outgoing: [OutgoingMessage] {
        rows.compactMap { if case .outgoing(let message) = $0 { message } else { nil } }
    }
}

extension OutgoingMessage {
    fileprivate var hasFailed: Bool { if case .failed = state { true } else { false } }
}
