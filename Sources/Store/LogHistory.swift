// The log's history: whether what somebody has read of it is still part of it.
import Domain
import Postgres

/// What has become of a point of the log.
package struct LogPlace: Sendable {
    package enum State: String, Sendable {
        /// The log goes on from there.
        case kept
        /// The log has lost its tail since, and this point with it.
        case lost
        /// Some of what follows isn't kept any more.
        case trimmed
    }

    package var state: State
    /// The point of the log that is now.
    package var now: Cursor
    /// The first position after the point's epoch; nil while that lasts, or when there never was such an epoch.
    package var epochEnd: Position?
}

extension Store {
    /// Whether the log still goes on from a point.
    package func place(of cursor: Cursor) async throws -> LogPlace {
        let row = try await log.row(
            Statement("log_place", "select * from log_place($1, $2)"),
            [.int4(cursor.epoch), .int8(cursor.position.value)])
        return try await decoded {
            guard let state = LogPlace.State(rawValue: try row.text(0)) else {
                throw PostgresError.decoding("log_place's state")
            }
            return LogPlace(
                state: state, now: Cursor(epoch: try row.int4(2), position: Position(try row.int8(1))),
                epochEnd: try row.int8OrNull(3).map { Position($0) })
        }
    }

    /// Says that this node has read up to a point that isn't there any more though its epoch still is: a new epoch is
    /// opened, unless somebody has done so already.
    package func reportLoss(of cursor: Cursor) async throws {
        _ = try await log.rows(
            Statement("log_report_loss", "select log_report_loss($1, $2)"),
            [.int4(cursor.epoch), .int8(cursor.position.value)])
    }
}
