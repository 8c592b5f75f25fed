// The endpoints of the operator, as administrators set them. Webhooks+leases.swift has what delivering needs.
import Domain
import Postgres

/// An endpoint to be made.
package struct NewWebhook: Sendable {
    package var id: WebhookID
    package var url: String
    /// Nil for all types.
    package var types: [EventType]?
    package var isThin: Bool
    package var isOrdered: Bool
    package var secret: [UInt8]

    package init(
        id: WebhookID, url: String, types: [EventType]?, isThin: Bool, isOrdered: Bool, secret: [UInt8]
    ) {
        self.id = id
        self.url = url
        self.types = types
        self.isThin = isThin
        self.isOrdered = isOrdered
        self.secret = secret
    }
}

/// A change of an endpoint. Nil leaves a value as it is.
package struct WebhookChange: Sendable {
    package var url: String?
    /// `.some(nil)` is for all types.
    package var types: [EventType]??
    package var isEnabled: Bool?

    package init(url: String? = nil, types: [EventType]?? = nil, isEnabled: Bool? = nil) {
        self.url = url
        self.types = types
        self.isEnabled = isEnabled
    }
}

/// Where a replay begins.
package enum ReplayStart: Sendable {
    case cursor(Cursor)
    case since(Timestamp)
}

/// A state of deliveries that administrators list.
package enum WebhookDeliveryState: String, CaseIterable, Sendable {
    case pending, delivered, failed, parked
}

/// What a request to an endpoint needs.
package struct WebhookTarget: Sendable, Equatable {
    package var url: String
    /// The secrets that sign, the present one first.
    package var secrets: [[UInt8]]

    package init(url: String, secrets: [[UInt8]]) {
        self.url = url
        self.secrets = secrets
    }
}

extension Store {
    /// Makes an endpoint, which gets the events from now on. Throws `too_many_webhooks`.
    package func createWebhook(_ new: NewWebhook, countMax: Int, by actor: AdminActor) async throws -> JSONText {
        try await json(
            "webhook_create",
            actor.parameters + [
                .id(new.id), .text(new.url), .types(new.types), .bool(new.isThin), .bool(new.isOrdered),
                .bytes(new.secret), .int(countMax),
            ])
    }

    /// Throws `webhook_not_found`, as all calls that name an endpoint.
    package func webhook(_ id: WebhookID) async throws -> JSONText {
        try await reads.json("webhook_get", [.id(id)])
    }

    /// Returns a page of all endpoints, the newest first.
    package func webhooks(_ request: PageRequest) async throws -> Page {
        try await reads.page("webhook_list", [], request)
    }

    package func updateWebhook(_ id: WebhookID, _ change: WebhookChange, by actor: AdminActor) async throws -> JSONText
    {
        try await json(
            "webhook_update",
            actor.parameters + [
                .id(id), .text(orNull: change.url), .bool(change.types != nil), .types(change.types ?? nil),
                .bool(orNull: change.isEnabled),
            ])
    }

    package func deleteWebhook(_ id: WebhookID, by actor: AdminActor) async throws {
        try await call("webhook_delete", actor.parameters + [.id(id)])
    }

    /// Gives an endpoint a new secret. The present one also signs for `bothSeconds`.
    package func rotateWebhook(
        _ id: WebhookID, secret: [UInt8], bothSeconds: Int, by actor: AdminActor
    ) async throws -> JSONText {
        try await json("webhook_rotate", actor.parameters + [.id(id), .bytes(secret), .int(bothSeconds)])
    }

    /// Moves an endpoint back in the log, so that it gets the events from there again. Throws `cursor_expired`.
    package func replayWebhook(_ id: WebhookID, from start: ReplayStart, by actor: AdminActor) async throws -> JSONText
    {
        let parameters: [Parameter] =
            switch start {
            case .cursor(let cursor): [.int4(cursor.epoch), .int8(cursor.position.value), .null]
            case .since(let time): [.null, .null, .timestamp(microsSince1970: time.microsSince1970)]
            }
        return try await json("webhook_replay", actor.parameters + [.id(id)] + parameters)
    }

    /// Returns a page of an endpoint's deliveries: the next ones of `pending`, otherwise the latest first.
    /// - Parameter state: nil for all that were tried, or wait behind one.
    package func webhookDeliveries(
        _ id: WebhookID, state: WebhookDeliveryState?, _ request: PageRequest
    ) async throws -> Page {
        try await reads.page("webhook_delivery_list", [.id(id), .text(orNull: state?.rawValue)], request)
    }

    /// Returns what a test request needs.
    package func webhookTarget(_ id: WebhookID) async throws -> WebhookTarget {
        try await reads.row("webhook_target", [.id(id)]) { row in
            WebhookTarget(
                url: try row.text(0), secrets: [try row.bytes(1)] + (try row.bytesOrNull(2).map { [$0] } ?? []))
        }
    }
}

extension Parameter {
    fileprivate static func types(_ types: [EventType]?) -> Parameter {
        types.map { .texts($0.map(\.rawValue)) } ?? .null
    }
}
