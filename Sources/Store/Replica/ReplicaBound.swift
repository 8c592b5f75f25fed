// What a replica must have replayed, and whether it has.
import Postgres

/// What a replica must have so that a read there shows all that the primary showed at one moment.
struct ReplicaBound: Sendable, Equatable {
    /// A place in the WAL, in bytes.
    var lsn: Int64
    /// The log's newest epoch, its last position, and the server that opened the epoch.
    var epoch: Int32
    var head: Int64
    var system: String
    /// The primary has opened the epoch since its start. Otherwise a server with another history may have it, too.
    var isOfThisRun: Bool

    static let statement = Statement("replica_bound", "select * from replica_bound()")

    init(lsn: Int64, epoch: Int32 = 1, head: Int64 = 0, system: String = "", isOfThisRun: Bool = true) {
        (self.lsn, self.epoch, self.head, self.system, self.isOfThisRun) = (lsn, epoch, head, system, isOfThisRun)
    }

    init(_ row: Row) throws {
        self.init(
            lsn: try row.int8(0), epoch: try row.int4(1), head: try row.int8(2), system: try row.text(3),
            isOfThisRun: try row.bool(4))
    }

    private var parameters: [Parameter] { [.int8(lsn), .int4(epoch), .int8(head), .text(system)] }
    /// Fails on a server that lacks something.
    var check: (sql: String, parameters: [Parameter]) { ("select replica_check($1, $2, $3, $4)", parameters) }
    /// Asks what a server lacks.
    var question: (Statement, [Parameter]) {
        (Statement("replica_lack", "select * from replica_lack($1, $2, $3, $4)"), parameters)
    }
}

/// What a server said about a bound.
struct ReplicaReport: Sendable, Equatable {
    /// Up to where it has replayed the WAL.
    var replayed: Int64
    /// It does not follow the primary, whatever it has replayed.
    var isOfAnotherHistory: Bool

    init(replayed: Int64, isOfAnotherHistory: Bool = false) {
        (self.replayed, self.isOfAnotherHistory) = (replayed, isOfAnotherHistory)
    }

    init(_ row: Row) throws {
        self.init(
            replayed: try row.int8OrNull(0) ?? 0,
            isOfAnotherHistory: try row.textOrNull(1) == PrimaryReason.notAReplica.rawValue)
    }
}

/// Why the primary answers a read that the replica could answer.
package enum PrimaryReason: String, CaseIterable, Sendable {
    /// The replica had not replayed enough in time.
    case lagging
    /// The replica could not be asked, or failed.
    case away
    /// The server was promoted or restored, or follows another server.
    case notAReplica = "not_a_replica"
    /// Nothing was written to the log since the primary's start.
    case restarted
    /// Replaying the primary's changes cancelled the read, or made it wait.
    case conflict
    /// No connection to the replica was free in time.
    case busy

    /// Nil if the error is the answer: the primary would refuse the read, too, or take as long.
    init?(_ error: PostgresError) {
        switch error {
        case .server(let error):
            switch error.sqlState {
            case "PR001": self = PrimaryReason(rawValue: error.message) ?? .away
            case "40001", "40P01", "55P03": self = .conflict
            case let state where state.hasPrefix("PY") || error.isTimeout: return nil
            default: self = .away
            }
        case .connectionLost, .unavailable, .closed: self = .away
        case .poolFull, .waitTimedOut: self = .busy
        case .decoding: return nil
        }
    }

    /// The replica is not asked again at once.
    var pausesReads: Bool { self == .lagging || self == .away || self == .notAReplica }
}
