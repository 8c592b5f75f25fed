// Which devices poll at which node, as far as the database knows: so push leaves them alone.
import Domain
import Postgres

/// A device that polls at a node.
package struct PollingDevice: Hashable, Sendable {
    package var session: SessionID
    package var user: UserID
    /// It has everything up to here.
    package var position: Position

    package init(session: SessionID, user: UserID, position: Position) {
        self.session = session
        self.user = user
        self.position = position
    }
}

extension Store {
    /// Says which devices have come to a node, and which have gone.
    /// - Parameter isWhole: no others poll there.
    package func putDevicePolls(
        node: String, came: [PollingDevice], gone: [PollingDevice], isWhole: Bool = false
    ) async throws {
        _ = try await rows(
            Statement("device_poll_put", "select device_poll_put($1, $2, $3, $4, $5, $6, $7)"),
            [
                .text(node), .ids(came.map(\.session)), .ids(came.map(\.user)),
                .int8s(came.map { Int64?($0.position.value) }), .ids(gone.map(\.session)),
                .int8s(gone.map { Int64?($0.position.value) }), .bool(isWhole),
            ])
    }

    /// Says that a node is there, and what all devices that poll there surely have. Gives whether the database wants to be
    /// told anew which they are.
    package func beatDevicePolls(node: String, position: Position) async throws -> Bool {
        let row = try await row(
            Statement("device_poll_beat", "select device_poll_beat($1, $2)"), [.text(node), .int8(position.value)])
        return try await decoded { try row.bool(0) }
    }

    /// Notes that the devices of nodes that have died have gone; gives how many there were.
    package func sweepDevicePolls() async throws -> Int {
        let row = try await row(Statement("device_poll_sweep", "select device_poll_sweep()"), [])
        return try await decoded { Int(try row.int4(0)) }
    }
}
