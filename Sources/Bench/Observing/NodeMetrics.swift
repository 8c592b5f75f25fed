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

    /// Returns the sum and count of a histogram's samples since `earlier`; of none when the nodes do not have it.
    func mean(of name: String, labels: String, since earlier: NodeMetrics) -> Mean {
        Mean(
            sum: growth(of: "\(name)_sum{\(labels)}", since: earlier) ?? 0,
            count: growth(of: "\(name)_count{\(labels)}", since: earlier) ?? 0)
    }
}

/// A mean that can be added to another.
struct Mean: Sendable, Equatable {
    var sum = 0.0
    var count = 0.0

    /// Nil without samples.
    var value: Double? { count > 0 ? sum / count : nil }

    static func + (left: Mean, right: Mean) -> Mean {
        Mean(sum: left.sum + right.sum, count: left.count + right.count)
    }
}

/// How the nodes batched messages in a period.
struct Batching: Sendable {
    /// Messages per database call.
    var items = Mean()
    /// How long a message waited for its call, and how long the call took.
    var waitS = Mean()
    var callS = Mean()

    init() {}

    init(from earlier: NodeMetrics, to later: NodeMetrics) {
        let labels = "stream=\"messages\""
        items = later.mean(of: "parley_batch_items", labels: labels, since: earlier)
        waitS = later.mean(of: "parley_batch_wait_seconds", labels: labels, since: earlier)
        callS = later.mean(of: "parley_batch_call_seconds", labels: labels, since: earlier)
    }

    static func + (left: Batching, right: Batching) -> Batching {
        var sum = left
        sum.items = left.items + right.items
        sum.waitS = left.waitS + right.waitS
        sum.callS = left.callS + right.callS
        return sum
    }

    /// Nil when there was no call.
    var summary: JSONValue? {
        items.value.map { items in
            .object([
                .init("messages", .decimal(items, 1)),
                .init("wait_ms", .decimal(orNull: waitS.value.map { $0 * 1000 }, 2)),
                .init("call_ms", .decimal(orNull: callS.value.map { $0 * 1000 }, 2)),
            ])
        }
    }
}
