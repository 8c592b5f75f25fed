// What `parley bench` can be told, as typed values. Names and help are in BenchFlag.swift.

/// One run of the load generator.
package struct BenchSettings: Sendable, Equatable {
    package enum Workload: String, CaseIterable, Sendable {
        case send, latency, fanout, idle, mixed

        /// One sentence for the list of workloads.
        package var summary: String {
            switch self {
            case .send: "Messages a second from connections that each send the next once the last is answered."
            case .latency: "From the start of a send to the message at the other's long poll."
            case .fanout: "From the start of a send until the last of a room's waiting members has it."
            case .idle: "Memory and processor time of a server with many waiting polls."
            case .mixed: "People who poll, send, read, page and open the inbox, at an overall rate."
            }
        }
    }

    package var workload: Workload
    /// Nodes; connections are spread over them in turn.
    package var urls: [String] = []
    /// Measured, after the warm-up.
    package var seconds = 10
    /// Measured instead of a time; nil: `seconds` count.
    package var messageCount: Int?
    package var warmUpSeconds = 2
    /// Event loops, each a thread.
    package var loopCount = 1
    package var connectionCount = 64
    package var textByteCount = 100
    /// Messages (latency, fanout) or calls (mixed) a second; nil for the workload's own.
    package var rate: Int?
    /// Members of the rooms, one run each.
    package var memberCounts: [Int] = []
    package var pollCount = 10_000
    package var userCount = 1_000
    package var isBaseline = false
    /// Whether to measure with and without a transaction that holds an old snapshot.
    package var isOldSnapshot = false
    /// Turns of Parley and baseline, or without and with an old snapshot.
    package var roundCount = 3
    package var databaseURL: String?
    package var serverPIDs: [Int] = []
    package var postgresPID: Int?
    package var isJSON = false

    package init(_ workload: Workload) { self.workload = workload }
}
