// The HTTP clients of a node's commands.
import Domain
import Outbound
import ServiceConfiguration
import Synchronization

/// Each command has a client and a thread of its own, because two commands on one host would share a client's
/// connections, and a slow one would delay the other. From any thread.
final class CommandClients: Sendable {
    private struct State {
        var clients: [CommandID: Outbound] = [:]
        /// Set once the node stops.
        var isClosed = false
    }

    private let caFile: String?
    private let allowsPrivate: Bool
    private let state = Mutex(State())

    init(_ settings: Settings) {
        caFile = settings.caFile
        allowsPrivate = settings.pushAllowsPrivate
    }

    /// Performs one transfer for a command.
    func perform(_ transfer: Transfer, of command: CommandID) async throws(TransferFailure) -> TransferAnswer {
        guard let client = client(of: command) else { throw .closed }
        return try await client.perform(transfer)
    }

    /// Accepts no more transfers. Those under way have this time to end.
    func close(within time: Duration) {
        let clients = state.withLock { state in
            state.isClosed = true
            return Array(state.clients.values)
        }
        for client in clients { client.close(within: time) }
    }

    /// Returns nil while the node stops, and if no thread can be started.
    private func client(of command: CommandID) -> Outbound? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            if let client = state.clients[command] { return client }
            // Those of deleted commands end here. A client with transfers under way lives until they have ended.
            if state.clients.count >= CommandLimits.countMax { state.clients = [:] }
            let client = try? Outbound(
                caFile: caFile, allowPrivate: allowsPrivate, inFlightMax: CommandLimits.runningCountMax,
                waitingCountMax: CommandLimits.runningCountMax)
            state.clients[command] = client
            return client
        }
    }
}
