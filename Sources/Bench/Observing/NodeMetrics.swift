// The nodes' own figures, from /metrics.

/// Samples by name and labels, summed over nodes.
struct NodeMetrics: Sendable {
    private var samples: [String: Double] = [:]

    /// - Throws: `BenchFailure` when a node doesn't answer.
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

    /// How much a sample has grown since; nil when the nodes don't have it.
    func growth(of name: String, since earlier: NodeMetrics) -> Double? {
        samples[name].map { $0 - (earlier.samples[name] ?? 0) }
    }

    /// Messages a call of the database, since then.
    func batchMean(since earlier: NodeMetrics) -> Double? {
        guard let items = growth(of: "parley_batched_items_total{stream=\"messages\"}", since: earlier),
            let batches = growth(of: "parley_batches_total{stream=\"messages\"}", since: earlier), batches > 0
        else { return nil }
        return items / batches
    }
}
