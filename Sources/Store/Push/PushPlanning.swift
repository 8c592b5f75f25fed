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
        try await row("push_plan", [.int(limit), .int(lifeSeconds), .int(delayMs)]) {
            ($0.isNull(0) ? nil : Position(try $0.int8(0)), Int(try $0.int4(1)), try $0.bool(2))
        }
    }
}
