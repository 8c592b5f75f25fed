// The log's epochs: whether what a node has read is still part of the log.
import Domain
import Postgres

/// The state of a point of the log.
package struct LogPlace: Sendable {
    package enum State: String, Sendable {
        /// The log continues from there.
        case kept
        /// The log has lost its tail, including this point.
        case lost
        /// Some of what follows was trimmed.
        case trimmed
    }

    package var state: State
    /// The log's present point.
    package var now: Cursor
    /// The first position after the point's epoch; nil while that lasts, or when there was no such epoch.
    package var epochEnd: Position?
}

extension Store {
    /// Returns whether the log continues from a point.
    package func place(of cursor: Cursor) async throws -> LogPlace {
        try await log.row("log_place", [.int4(cursor.epoch), .int8(cursor.position.value)]) { row in
            guard let state = LogPlace.State(rawValue: try row.text(0)) else {
                throw PostgresError.decoding("log_place's state")
            }
            return LogPlace(
                state: state, now: Cursor(epoch: try row.int4(2), position: Position(try row.int8(1))),
                epochEnd: try row.int8OrNull(3).map { Position($0) })
        }
    }

    /// Reports that this node has read up to a point that is gone although its epoch is the newest. Opens a new epoch,
    /// unless another node has opened it.
    package func reportLoss(of cursor: Cursor) async throws {
        try await log.call("log_report_loss", [.int4(cursor.epoch), .int8(cursor.position.value)])
    }
}
