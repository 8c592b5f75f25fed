// Shortens a failing history to the operations that the failure needs.

/// A history as it was played, a few operations at once each time.
typealias History = [[Operation]]

enum Shrinking {
    /// A shorter history that still fails, with what its failure was. Tries halves first, then smaller and smaller
    /// pieces, each without the rest (Zeller's delta debugging), as long as there is time. What depends on the clock
    /// may not fail again: then the history stays as long as it was.
    static func shrink(
        _ history: History, _ failure: Difference, within limit: Duration,
        _ failureOf: (History) async throws -> Difference?
    ) async throws -> (history: History, failure: Difference) {
        let deadline = ContinuousClock.now + limit
        var shortest = (history: history, failure: failure)
        var pieceCount = 2
        while shortest.history.count > 1 {
            let size = (shortest.history.count + pieceCount - 1) / pieceCount
            var isShorter = false
            for start in stride(from: 0, to: shortest.history.count, by: size) {
                guard ContinuousClock.now < deadline else { return shortest }
                var fewer = shortest.history
                fewer.removeSubrange(start..<min(start + size, fewer.count))
                if let failure = try await failureOf(fewer) {
                    shortest = (fewer, failure)
                    isShorter = true
                    break
                }
            }
            if isShorter {
                pieceCount = max(2, pieceCount - 1)
            } else if size == 1 {
                break
            } else {
                pieceCount = min(shortest.history.count, 2 * pieceCount)
            }
        }
        return shortest
    }
}
