// A search field as a model.
import Parley
import ParleyObservation
import TestBasics
import Testing

@MainActor
@Suite("The search model", .timeLimit(.minutes(1)))
struct Searching {
    let server = ScriptedServer()

    @Test("shows the results for what was typed last")
    func results() async throws {
        server.addThread("trip", title: "Mountain trip", texts: ["Who comes?", "At eight"])
        server.find(in: "trip")
        let search = SearchModel(try await .signedIn(server))
        let running = Task { await search.run() }
        defer { running.cancel() }
        #expect(search.rows.isEmpty && search.isLoaded)

        for text in ["a", "at", "at e"] { search.text = text }
        #expect(!search.isLoaded && search.state == .searching)
        try await eventually("the result is shown") {
            search.rows.map(\.message.text) == ["At eight"] && search.isLoaded && search.state == .complete
        }
        search.text = " "
        try await eventually("an empty search has no results") { search.rows.isEmpty && search.isLoaded }
        search.text = "eight"
        try await eventually("the result is shown again") { search.rows.count == 1 }
    }

    @Test("says when a search has ended that found nothing, and one that the server refused")
    func end() async throws {
        let search = SearchModel(try await .signedIn(server))
        let running = Task { await search.run() }
        defer { running.cancel() }
        search.text = "nowhere"
        try await eventually("the search has ended") { search.state == .complete }
        #expect(search.rows.isEmpty)
        server.refuse("GET /v1/search", "rate_limited")
        search.text = "nothing"
        try await eventually("the search has failed") { search.state.error?.code == .rateLimited }
        #expect(search.rows.isEmpty && search.isLoaded)
    }

    @Test("asks the server only when nothing was typed for a moment")
    func pauses() async throws {
        server.addThread("trip", title: "Mountain trip", texts: ["At eight"])
        server.find(in: "trip")
        let search = SearchModel(try await .signedIn(server), in: "trip")
        let running = Task { await search.run() }
        defer { running.cancel() }
        for length in 1...8 {
            search.text = String("At eight".prefix(length))
            await Task.yield()
        }
        try await eventually("the result is shown") { search.rows.count == 1 }
        #expect(server.bodies("GET /v1/search").count == 1)
    }
}
