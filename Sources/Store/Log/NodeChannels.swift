// What the nodes of a database share to notify one another.
import Domain
import Postgres

/// The channels of the notifications between nodes. Only nodes know the names, because any user of the database may
/// listen to a channel, and notify it.
package struct NodeChannels: Sendable {
    /// Positions of the log.
    package var log: String
    /// Typing and presence.
    package var presence: String
    /// Seals typing and presence. Never logged.
    package var key: [UInt8]
    /// The database's time.
    package var now: Timestamp
}

extension Store {
    package func nodeChannels() async throws -> NodeChannels {
        try await row("node_channels_get", []) { row in
            NodeChannels(
                log: try row.text(0), presence: try row.text(1), key: try row.bytes(2),
                now: Timestamp(microsSince1970: try row.timestamp(3)))
        }
    }
}
