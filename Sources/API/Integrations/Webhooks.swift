// /v1/admin/webhooks: the endpoints of the operator. WebhookDispatcher delivers to them.
import Domain
import HTTPTypes
import Store

/// The result of a test event.
package struct WebhookTest: Sendable {
    package static let eventType = "webhook.test"

    /// The request's `webhook-id`.
    package var event: String
    package var isDelivered: Bool
    /// Of the answer; nil without one.
    package var status: Int?
    /// A word for a failure.
    package var reason: String?
    package var durationMs: Int

    package init(event: String, isDelivered: Bool, status: Int?, reason: String? = nil, durationMs: Int) {
        self.event = event
        self.isDelivered = isDelivered
        self.status = status
        self.reason = reason
        self.durationMs = durationMs
    }
}

/// The calls on endpoints.
package struct WebhookCalls: Sendable {
    private let store: Store
    /// Whether endpoints may have private addresses and no TLS. For tests.
    private let allowsPrivate: Bool
    /// Sends a test event at once.
    private let test: @Sendable (WebhookTarget) async -> WebhookTest

    package init(
        store: Store, allowsPrivate: Bool, test: @escaping @Sendable (WebhookTarget) async -> WebhookTest
    ) {
        self.store = store
        self.allowsPrivate = allowsPrivate
        self.test = test
    }

    package var routes: [Route] {
        let (all, one) = ("/v1/admin/webhooks", "/v1/admin/webhooks/{webhook_id}")
        return [
            Route(.post, all, .adminCreateWebhook, body: .small, .admin(.webhooks, createWebhook)),
            Route(.get, all, .adminListWebhooks, query: .read, .adminList(.webhooks, "webhooks", store.webhooks)),
            Route(
                .get, one, .adminGetWebhook,
                .admin(.webhooks) { call, _ in .json(try await store.webhook(call.webhook())) }),
            Route(.patch, one, .adminUpdateWebhook, body: .small, .admin(.webhooks, updateWebhook)),
            Route(
                .delete, one, .adminDeleteWebhook,
                .adminDone(.webhooks) { try await store.deleteWebhook($0.webhook(), by: $1) }),
            Route(.post, one + "/rotate", .adminRotateWebhook, body: .small, .admin(.webhooks, rotateWebhook)),
            Route(.post, one + "/test", .adminTestWebhook, body: .small, .admin(.webhooks, testWebhook)),
            Route(.post, one + "/replay", .adminReplayWebhook, body: .small, .admin(.webhooks, replayWebhook)),
            Route(
                .get, one + "/deliveries", .adminListWebhookDeliveries, query: .read, .admin(.webhooks, listDeliveries)),
        ]
    }

    private func createWebhook(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let url = EndpointURL.text(allowsPrivate: allowsPrivate)
        let fields = try await call.fields { fields in try NewWebhookFields(&fields, url) }
        let secret = WebhookSecret.random()
        let new = NewWebhook(
            id: .make(), url: fields.url, types: fields.types, isThin: fields.isThin, isOrdered: fields.isOrdered,
            secret: secret.bytes)
        let webhook = try await store.createWebhook(new, countMax: WebhookLimits.countMax, by: actor)
        return .json(webhook.adding("secret", secret.text), status: .created)
    }

    private func updateWebhook(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let id = try call.webhook()
        let url = EndpointURL.text(allowsPrivate: allowsPrivate)
        let change = try await call.fields { fields in
            let url = fields.given("url", url)
            let types = fields.given("types", EventType.list)
            let isEnabled = fields.given("enabled") { json throws(Invalid) in try Bool(json) }
            try fields.end()
            return WebhookChange(url: url, types: types, isEnabled: isEnabled)
        }
        return .json(try await store.updateWebhook(id, change, by: actor))
    }

    private func rotateWebhook(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let id = try call.webhook()
        return try await call.rotate { secret in
            try await store.rotateWebhook(
                id, secret: secret, bothSeconds: WebhookLimits.bothSecretsSeconds, by: actor)
        }
    }

    private func testWebhook(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let id = try call.webhook()
        try await call.noFields()
        let result = await test(try await store.webhookTarget(id))
        return .json(
            JSONText(
                .object([
                    .init("event_id", .string(result.event)), .init("delivered", .bool(result.isDelivered)),
                    .init("status", result.status.map { .integer($0) } ?? .null),
                    .init("reason", .string(orNull: result.reason)),
                    .init("duration_ms", .integer(result.durationMs)),
                ])))
    }

    private func replayWebhook(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let id = try call.webhook()
        let start = try await call.fields { fields -> ReplayStart in
            let cursor = fields.optional("cursor", Cursor.self)
            let time = fields.optional("since", Timestamp.self)
            let refusal = "Send either `cursor` or `since`."
            if cursor != nil, time != nil { fields.refuse("since", refusal) }
            if cursor == nil, time == nil, !fields.isRefused("cursor"), !fields.isRefused("since") {
                fields.refuse("cursor", refusal)
            }
            try fields.end()
            if let cursor { return .cursor(cursor) }
            guard let time else { throw Invalid(refusal) }
            return .since(time)
        }
        return .json(try await store.replayWebhook(id, from: start, by: actor))
    }

    private func listDeliveries(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let id = try call.webhook()
        var query = call.query
        let request = query.pageRequest()
        let state = query.optional("state", WebhookDeliveryState.self)
        try query.end()
        return .list(
            "deliveries", try await store.webhookDeliveries(id, state: state, request), limit: request.limit)
    }
}

/// An endpoint that the operator creates.
private struct NewWebhookFields: Sendable {
    var url: String
    var types: [EventType]?
    var isThin: Bool
    var isOrdered: Bool

    init(_ fields: inout Fields<JSONValue>, _ url: (JSONValue) throws(Invalid) -> String) throws {
        let url = fields.required("url", url)
        types = fields.given("types", EventType.list) ?? nil
        isThin = fields.optional("thin", Bool.self) ?? false
        isOrdered = fields.optional("ordered", Bool.self) ?? true
        self.url = try fields.values(url)
    }
}

extension WebhookDeliveryState: WordField {}

extension EventType {
    /// Types in an array; null for all.
    fileprivate static func list(_ json: JSONValue) throws(Invalid) -> [EventType]? {
        if case .null = json { return nil }
        let types = try EventTypes(json).types
        return allCases.filter(types.contains)
    }
}

extension Call {
    fileprivate func webhook() throws(Problem) -> WebhookID {
        try id(of: "webhook", orElse: .webhookNotFound)
    }
}
