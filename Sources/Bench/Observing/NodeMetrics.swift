// The nodes' metrics, from /metrics.
import Domain

/// Samples by name and labels, summed over the nodes.
struct NodeMetrics: Sendable {
    private var samples: [String: Double] = [:]

    /// - Throws: `BenchFailure` when a node does not answer.
    static func read(_ endpoints: [Endpoint]) async throws -> NodeMetrics {
        var metrics = NodeMetrics()
        for endpoint in endpoints {
            let reply = try await Calls.run([Call("GET", "/metrics", status: 200)], at: endpoint)[0]
            for line in reply.text.split(separator: "\n") where !line.hasPrefix("#") {
                guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
                    continue
                }
                metrics.samples[String(line[..<space]), default: 0] += value
            }
        }
        return metrics
    }

    subscript(name: String) -> Double? { samples[name] }

    /// Returns how much a sample has grown since `earlier`; nil when the nodes do not have it.
    func growth(of name: String, since earlier: NodeMetrics) -> Double? {
        samples[name].map { $0 - (earlier.samples[name] ?? 0) }
    }

    /// Returns the mean of a histogram's samples since `earlier`; nil when there are none or the nodes do not have it.
    func mean(of name: String, labels: String, since earlier: NodeMetrics) -> Double? {
        guard let sum = growth(of: "\(name)_sum{\(labels)}", since: earlier),
            let count = growth(of: "\(name)_count{\(labels)}", since: earlier), count > 0
        else { return nil }
        return sum / count
    }
}

/// How the nodes batched messages in a period.
struct Batching: Sendable {
    /// Messages per database call.
    var meanItems: Double?
    /// How long a message waited for its call, and how long the call took.
    var meanWaitS: Double?
    var meanCallS: Double?

    init(from earlier: NodeMetrics, to later: NodeMetrics) {
        let labels = "stream=\"messages\""
        meanItems = later.mean(of: "parley_batch_items", labels: labels, since: earlier)
        meanWaitS = later.mean(of: "parley_batch_wait_seconds", labels: labels, since: earlier)
        meanCallS = later.mean(of: "parley_batch_call_seconds", labels: labels, since: earlier)
    }

    var summary: JSONValue {
        .object([
            .init("messages", .decimal(orNull: meanItems, 1)),
            .init("wait_ms", .decimal(orNull: meanWaitS.map { $0 * 1000 }, 2)),
            .init("call_ms", .decimal(orNull: meanCallS.map { $0 * 1000 }, 2)),
        ])
    }
}
