// The push target of the caller's device: the address for alerts while the device does not poll.
import Domain
import Store

package struct PushCalls: Sendable {
    private let store: Store
    private let platforms: Set<PushPlatform>
    private let webPushKey: String
    private let rules: PushTargetRules

    /// - Parameters:
    ///   - platforms: those that the service sends alerts to.
    ///   - webPushKey: the public key that browsers bind their subscriptions to: an uncompressed point in base64url.
    package init(store: Store, platforms: Set<PushPlatform>, webPushKey: String, rules: PushTargetRules) {
        (self.store, self.platforms, self.webPushKey, self.rules) = (store, platforms, webPushKey, rules)
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
        guard platforms.contains(target.platform) else {
            throw Problem(
                .pushNotConfigured, "The service sends no alerts to this platform. Do not offer alerts on this device.",
                fields: [.init("platform", "Is not configured on this service.")])
        }
        try await store.putPushTarget(target, of: identity)
        return .json(JSONText(target.json))
    }

    private func deletePush(_ call: Call, _ identity: Identity) async throws -> Answer {
        try await store.deletePushTarget(of: identity.session)
        return .noContent
    }

    private func getWebPushKey(_ call: Call, _ identity: Identity) throws(Problem) -> Answer {
        guard platforms.contains(.webpush) else {
            throw Problem(.notFound, "The service sends no Web Push, so there is no key to subscribe with.")
        }
        return .json(JSONText(.object([.init("public_key", .string(webPushKey))])))
    }
}
