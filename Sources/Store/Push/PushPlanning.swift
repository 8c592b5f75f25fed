// Planning alerts: deciding from the log which devices get one.
import Domain
import Postgres

extension Store {
    /// Plans the next part of the log.
    /// - Parameters:
    ///   - limit: how many events at most.
    ///   - lifeSeconds: older events get no alert.
    ///   - delayMs: alerts are due after this time.
    /// - Returns: the position up to which the log is planned, nil while another session plans; how many alerts were
    ///   planned; whether there is more to plan.
    package func planAlerts(
        limit: Int, lifeSeconds: Int, delayMs: Int
    ) async throws -> (position: Position?, madeCount: Int, hasMore: Bool) {
        let row = try await row(
            Statement("push_plan", "select * from push_plan($1, $2, $3)"),
            [.int4(Int32(limit)), .int4(Int32(lifeSeconds)), .int4(Int32(delayMs))])
        return try await decoded {
            (row.isNull(0) ? nil : Position(try row.int8(0)), Int(try row.int4(1)), try row.bool(2))
        }
    }
}
