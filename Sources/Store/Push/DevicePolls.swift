// Which devices poll at which node, as far as the database knows. Polling devices get no alerts.
import Domain
import Postgres

/// A device that polls at a node.
package struct PollingDevice: Hashable, Sendable {
    package var session: SessionID
    package var user: UserID
    /// It has received everything up to here.
    package var position: Position

    package init(session: SessionID, user: UserID, position: Position) {
        self.session = session
        self.user = user
        self.position = position
    }
}

extension Store {
    /// Reports which devices came to a node, and which went.
    /// - Parameter isWhole: whether the list has all devices that poll there.
    package func putDevicePolls(
        node: String, came: [PollingDevice], gone: [PollingDevice], isWhole: Bool = false
    ) async throws {
        try await call(
            "device_poll_put",
            [
                .text(node), .ids(came.map(\.session)), .ids(came.map(\.user)),
                .int8s(came.map { Int64?($0.position.value) }), .ids(gone.map(\.session)),
                .int8s(gone.map { Int64?($0.position.value) }), .bool(isWhole),
            ])
    }

    /// Records that a node is alive, and the position up to which all devices that poll there have received everything.
    /// Returns whether the node must report all its devices again.
    package func devicePollHeartbeat(node: String, position: Position) async throws -> Bool {
        try await value("device_poll_heartbeat", [.text(node), .int8(position.value)]) { try $0.bool(0) }
    }

    /// Records that the devices of dead nodes have gone. Returns how many.
    package func sweepDevicePolls() async throws -> Int {
        try await value("device_poll_sweep", []) { Int(try $0.int4(0)) }
    }
}
