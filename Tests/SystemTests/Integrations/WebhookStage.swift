// Nodes that deliver to an endpoint of the test.
import Foundation
import TestSupport
import Testing

/// What tests of webhooks need: an endpoint, the operator's calls, and two people in a thread.
struct WebhookStage: Sendable {
    static let token = TestNodes.admin.token

    let sink: WebhookSink
    let database: String
    let caller: any Caller
    let ann: Person
    let ben: Person

    static let operatorPerson = TestNodes.admin

    /// - Parameter retries: seconds between tries.
    static func settings(retries: String) -> [String: String] {
        [
            "PARLEY_ADMIN_TOKEN": token, "PARLEY_PUSH_ALLOW_PRIVATE": "true", "PARLEY_WEBHOOK_RETRIES": retries,
        ]
    }

    init(_ sink: WebhookSink, database: String, at caller: any Caller) async throws {
        self.sink = sink
        self.database = database
        self.caller = caller
        ann = try await caller.register("Ann")
        ben = try await caller.register("Ben")
    }

    func thread() async throws -> String { try await caller.thread("group", by: ann, with: [ben]) }

    /// Creates a webhook that calls a path of the endpoint, which verifies every request. Returns its id and its secret.
    func webhook(_ path: String, _ more: [String: JSON] = [:]) async throws -> (id: String, secret: String) {
        let body = more.merging(["url": .string(sink.url(path))]) { $1 }
        let made = try await caller.post("/v1/admin/webhooks", .object(body), as: Self.operatorPerson)
        try #require(made.status == 201, "\(made)")
        let secret = try #require(made.json["secret"].string)
        try await sink.expect([secret], of: path)
        return (try #require(made.json["id"].string), secret)
    }

    /// Deletes webhooks of a shared node, so that it delivers nothing more to an endpoint that will be gone.
    func remove(_ ids: String...) async throws {
        for id in ids {
            #expect(try await caller.delete("/v1/admin/webhooks/\(id)", as: Self.operatorPerson).status == 204)
        }
    }

    func get(_ id: String, _ rest: String = "") async throws -> JSON {
        let answer = try await caller.get("/v1/admin/webhooks/\(id)\(rest)", as: Self.operatorPerson)
        try #require(answer.status == 200, "\(answer)")
        return answer.json
    }

    /// Event ids of deliveries in a state.
    func deliveries(_ id: String, _ state: String) async throws -> [String] {
        try await get(id, "/deliveries?state=\(state)&limit=200")["deliveries"].items.compactMap {
            $0["event_id"].string
        }
    }

    /// Waits until a path has accepted a number of events. In each `limit` it must accept a tenth of what is left.
    @discardableResult
    func accepted(
        _ path: String, count: Int, within limit: Duration = .seconds(30)
    ) async throws -> [WebhookSink.Request] {
        do {
            var seen = try sink.acceptedIDs(path).count
            while seen < count {
                let next = seen + max(1, (count - seen) / 10)
                seen = try await eventually(
                    "\(next) of \(count) events at \(path)", within: limit, every: .milliseconds(50)
                ) {
                    let accepted = try sink.acceptedIDs(path).count
                    return accepted >= next ? accepted : nil
                }
            }
            return try sink.requests(path).filter(\.isAccepted)
        } catch {
            let requests = try sink.requests(path).map { "\($0.id ?? "") \($0.status ?? 0)" }
            throw TimedOut(description: "\(error), but \(requests.suffix(50))")
        }
    }

    /// Waits until a webhook has received everything.
    func caughtUp(_ id: String, within limit: Duration = .seconds(30)) async throws {
        try await eventually("webhook \(id) to catch up", within: limit, every: .milliseconds(100)) {
            try await get(id)["lag_events"] == 0
        }
    }
}

extension WebhookSink.Request {
    var json: JSON { (try? JSON(parsing: Data(body.utf8))) ?? .null }
    var text: String? { json["data"]["payload"]["text"].string }
}
