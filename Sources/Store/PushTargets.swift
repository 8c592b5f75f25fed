// Where devices get their alerts, and the decision who gets one.
import Domain
import Postgres

extension Store {
    /// Registers where a device gets its alerts, in place of what it had before. Who else had the same token has it no more.
    package func putPushTarget(_ target: PushTarget, of identity: Identity) async throws {
        let columns = PushTargetColumns(target)
        _ = try await rows(
            Statement("push_target_put", "select push_target_put($1, $2, $3, $4, $5, $6, $7, $8)"),
            [
                .id(identity.user), .id(identity.session), .text(target.platform.rawValue), .text(columns.token),
                .text(orNull: columns.environment), .text(orNull: columns.topic),
                columns.key.map(Parameter.bytes) ?? .null,
                columns.secret.map(Parameter.bytes) ?? .null,
            ])
    }

    /// No alerts to the device any more; none is no failure.
    package func deletePushTarget(of session: SessionID) async throws {
        _ = try await rows(Statement("push_target_delete", "select push_target_delete($1)"), [.id(session)])
    }

    /// Decides the next part of the log.
    /// - Parameters:
    ///   - limit: of events.
    ///   - lifeSeconds: what is older is no news.
    ///   - delayMs: after which what is decided is due.
    /// - Returns: up to where it is decided, nil while another session is at it; how many alerts came of it; whether there
    ///   is more to do.
    package func makePushJobs(
        limit: Int, lifeSeconds: Int, delayMs: Int
    ) async throws -> (position: Position?, madeCount: Int, hasMore: Bool) {
        let row = try await row(
            Statement("push_make", "select * from push_make($1, $2, $3)"),
            [.int4(Int32(limit)), .int4(Int32(lifeSeconds)), .int4(Int32(delayMs))])
        return try await decoded {
            (row.isNull(0) ? nil : Position(try row.int8(0)), Int(try row.int4(1)), try row.bool(2))
        }
    }
}

/// As the table has it.
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
