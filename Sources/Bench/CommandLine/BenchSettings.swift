// The settings of `parley bench` as typed values. BenchFlag.swift has names and help.

/// One run of the load generator.
package struct BenchSettings: Sendable, Equatable {
    package enum Workload: String, CaseIterable, Sendable {
        case send, latency, fanout, idle, mixed, client, changes

        /// One sentence for the list of workloads.
        package var summary: String {
            switch self {
            case .send: "Messages per second from connections that each send again once they have an answer."
            case .latency: "Time from the start of a send until the message arrives at the other's long poll."
            case .fanout: "Time from the start of a send until the last waiting member of a room has the message."
            case .idle: "Memory and processor time of a node with many waiting polls."
            case .mixed: "People who poll, send, read, page and open the inbox, at a total rate."
            case .client: "The client library: first sync, cold start, memory, catching up and sending."
            case .changes: "Messages per second, without and with a reader of the changes feed."
            }
        }
    }

    package var workload: Workload
    /// Addresses of nodes; connections are spread over them in turn.
    package var urls: [String] = []
    /// Length of the measurement, after the warm-up.
    package var seconds = 10
    /// send: number of messages to measure instead of a time; nil to use `seconds`. client: messages of each thread; nil
    /// for 100.
    package var messageCount: Int?
    package var warmUpSeconds = 2
    /// Event loops, each with a thread.
    package var loopCount = 1
    package var connectionCount = 64
    package var textByteCount = 100
    /// Messages (latency, fanout) or calls (mixed) per second; nil for the workload's default.
    package var rate: Int?
    /// Members of the room in each run.
    package var memberCounts: [Int] = []
    package var pollCount = 10_000
    package var userCount = 1_000
    /// send: threads of the run; nil for one of each two connections. client: group threads of the client's account; nil
    /// for 1,000.
    package var threadCount: Int?
    /// How many of a hundred threads are direct ones; the others are groups.
    package var directPercent = 100
    package var isBaseline = false
    /// Whether to measure with and without a transaction that holds an old snapshot.
    package var isOldSnapshot = false
    /// Turns of Parley and baseline, or without and with the old snapshot.
    package var roundCount = 3
    package var databaseURL: String?
    /// changes: the nodes' admin token.
    package var adminToken: String?
    package var serverPIDs: [Int] = []
    package var postgresPID: Int?
    package var isJSON = false

    package init(_ workload: Workload) { self.workload = workload }
}
