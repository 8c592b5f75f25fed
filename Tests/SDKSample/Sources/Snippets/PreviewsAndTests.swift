// The code of the article "Previews and tests".
import Foundation
import ParleyClient
import ParleyObservation

// snippet
/// A server that knows one thread. It needs no network.
struct ScriptedServer: HTTPTransport {
    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        switch request.url.path {
        case "/v1/auth/login": answer(signedIn)
        case "/v1/inbox": answer(inbox)
        case "/v1/sync": try await nothingNew()
        default: HTTPResponse(status: 404, headers: [:], body: Data(#"{"code": "not_found"}"#.utf8))
        }
    }

    private func answer(_ json: String) -> HTTPResponse {
        HTTPResponse(status: 200, headers: ["content-type": "application/json"], body: Data(json.utf8))
    }

    /// A long poll that waits.
    private func nothingNew() async throws -> HTTPResponse {
        try await Task.sleep(for: .seconds(25))
        return answer(#"{"events": [], "cursor": "1", "more": false}"#)
    }
}
// end

// snippet
func previewClient() async throws -> ParleyClient {
    let parley = try ParleyClient(
        .init(
            server: URL(string: "http://preview.invalid")!, store: .memory,
            transport: ScriptedServer(), tokens: MemoryTokenStorage()))
    try await parley.signIn(.password(username: "ann", password: "a river of tea"))
    return parley
}
// end

// snippet
@MainActor
func inboxShowsTheThread() async throws {
    let model = InboxModel(try await previewClient())
    let running = Task { await model.run() }
    while model.rows.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
    precondition(model.rows[0].thread.title == "Mountain trip")
    running.cancel()
}
// end
