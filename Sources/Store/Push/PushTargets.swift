// Push targets: the addresses at which devices receive their alerts.
import Domain
import Postgres

extension Store {
    /// Registers a device's target, and replaces its former one. Another device with the same token loses its target.
    package func putPushTarget(_ target: PushTarget, of identity: Identity) async throws {
        let columns = PushTargetColumns(target)
        try await call(
            "push_target_put",
            [
                .id(identity.user), .id(identity.session), .text(target.platform.rawValue), .text(columns.token),
                .text(orNull: columns.environment), .text(orNull: columns.topic), .bytes(orNull: columns.key),
                .bytes(orNull: columns.secret),
            ])
    }

    /// Deletes the device's target, if it has one.
    package func deletePushTarget(of session: SessionID) async throws {
        try await call("push_target_delete", [.id(session)])
    }
}

/// A target in the columns of the table.
private struct PushTargetColumns {
    var token: String
    var environment: String?
    var topic: String?
    var key: [UInt8]?
    var secret: [UInt8]?

    init(_ target: PushTarget) {
        switch target {
        case .apns(let token, let environment, let topic):
            self.token = token
            self.environment = environment.rawValue
            self.topic = topic
        case .fcm(let token):
            self.token = token
        case .webPush(let endpoint, let key, let secret):
            token = endpoint
            self.key = key
            self.secret = secret
        }
    }
}
