// The code of the article "Previews and tests".
import Foundation
import Parley
import ParleyObservation

// snippet
/// A server that knows one account and one thread. It needs no network.
struct ScriptedServer: HTTPTransport {
    let ann = #"{"id": "ann", "name": "Ann", "preferences": {}, "created_at": "2026-11-01T10:00:00.000Z"}"#
    let trip = #"""
        {"id": "trip", "kind": "group", "title": "Mountain trip", "image": null, "labels": [],
         "retention": {"keep": "forever"}, "member_count": 2, "created_at": "2026-11-01T10:00:00.000Z",
         "peer": null, "last_message": null, "unread_count": 0, "mention_count": 0,
         "last_activity_at": "2026-11-01T10:00:00.000Z", "head": 0,
         "me": {"role": "member", "status": "joined", "read_seq": 0, "delivered_seq": 0, "muted_until": null,
                "archived": false, "pinned": false, "notify": "all", "hidden_before_seq": 0,
                "labels": []}}
        """#

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        switch request.url.path {
        case "/v1/auth/login": return answer(#"{"user": \#(ann), "session": {"id": "1", "token": "t"}}"#)
        case "/v1/users/me": return answer(ann)
        case "/v1/users/me/blocks": return answer(#"{"blocks": [], "limit": 200}"#)
        case "/v1/inbox": return answer(#"{"threads": [\#(trip)], "unread_total": 0, "cursor": "1", "limit": 200}"#)
        case "/v1/sync":
            // A long poll waits.
            if request.url.query?.contains("wait=0") == false { try await Task.sleep(for: .seconds(25)) }
            return answer(#"{"events": [], "cursor": "1", "more": false}"#)
        default: return answer(#"{"code": "not_found"}"#, status: 404)
        }
    }

    private func answer(_ json: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, headers: ["content-type": "application/json"], body: Data(json.utf8))
    }
}
// end

// snippet
func previewClient() async throws -> ParleyClient {
    let parley = try ParleyClient(
        .init(server: URL(string: "http://preview.invalid")!, store: .memory, transport: ScriptedServer()))
    try await parley.signIn(.password(username: "ann", password: "a river of tea"))
    return parley
}
// end

// snippet
@MainActor
func inboxShowsTheThread() async throws {
    let inbox = InboxModel(try await previewClient())
    let running = Task { await inbox.run() }
    defer { running.cancel() }
    while inbox.rows.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
    precondition(inbox.rows[0].thread.title == "Mountain trip")
}
// end

@main
enum Main {
    static func main() async throws { try await inboxShowsTheThread() }
}
