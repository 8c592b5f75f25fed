// The push target of the caller's device: the address for alerts while the device does not poll.
import Domain
import Store

package struct PushCalls: Sendable {
    private let store: Store
    private let webPushKey: String
    private let rules: PushTargetRules

    /// - Parameter webPushKey: the public key that browsers bind their subscriptions to: an uncompressed point in
    ///   base64url.
    package init(store: Store, webPushKey: String, rules: PushTargetRules) {
        (self.store, self.webPushKey, self.rules) = (store, webPushKey, rules)
    }

    private static var path: String { "/v1/sessions/current/push" }

    package var routes: [Route] {
        [
            Route(.put, Self.path, .putPush, body: .small, .signedIn(putPush)),
            Route(.delete, Self.path, .deletePush, .signedIn(deletePush)),
            Route(.get, "/v1/push/webpush-key", .getWebPushKey, .signedIn(getWebPushKey)),
        ]
    }

    private func putPush(_ call: Call, _ identity: Identity) async throws -> Answer {
        let target = try PushTarget(await call.body(), rules)
        try await store.putPushTarget(target, of: identity)
        return .json(JSONText(target.json))
    }

    private func deletePush(_ call: Call, _ identity: Identity) async throws -> Answer {
        try await store.deletePushTarget(of: identity.session)
        return .noContent
    }

    private func getWebPushKey(_ call: Call, _ identity: Identity) -> Answer {
        .json(JSONText(.object([.init("public_key", .string(webPushKey))])))
    }
}
