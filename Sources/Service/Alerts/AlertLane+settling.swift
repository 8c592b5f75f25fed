// Recording the outcomes of alerts in the database.
import Store
import Synchronization

extension AlertLane {
    /// Outcomes of one call, so that it is short.
    private static let settleMax = 256

    /// Adds outcomes to those that are waiting to be written. They are written in batches and by the callbacks'
    /// threads, not by the lane's task: what a service has accepted is recorded even while the node stops.
    func settle(_ settlements: [PushSettlement]) {
        let isEnough = state.withLock { state in
            state.settlements += settlements
            return state.settlements.count >= limits.settleMin || state.isClosing
        }
        if isEnough { settleNext() }
    }

    /// Writes the next batch, unless one is being written or the last write failed.
    func settleNext() {
        let batch = state.withLock { state -> [PushSettlement] in
            guard !state.isSettling, !state.isStuck, !state.settlements.isEmpty else { return [] }
            state.isSettling = true
            let batch = Array(state.settlements.prefix(Self.settleMax))
            state.settlements.removeFirst(batch.count)
            return batch
        }
        guard !batch.isEmpty else { return }
        store.settleAlerts(batch) { [self] result in settled(batch, result) }
    }

    private func settled(_ batch: [PushSettlement], _ result: Result<Int, any Error>) {
        state.withLock { state in
            state.isSettling = false
            if case .failure = result {
                // An alert without a recorded outcome is sent twice, so the next tick retries.
                state.settlements.insert(contentsOf: batch, at: 0)
                state.isStuck = true
            } else {
                // The devices' next alerts.
                state.isDue = true
            }
        }
        switch result {
        case .success(let forgottenCount):
            metrics.forgotten.add(forgottenCount)
            if state.withLock({ $0.isClosing || $0.settlements.count >= limits.settleMin }) { settleNext() }
        case .failure(let error):
            metrics.failures.add()
            log.warning("recording the outcomes of alerts failed; retrying in 1 s", reason: "\(error)")
        }
        state.withLock { $0.takeEnded() }?.resume()
    }
}

extension AlertLane.State {
    /// Whether nothing is under way, and nothing is left to record or can be recorded now.
    var isIdle: Bool {
        pace.inFlightCount == 0 && !isSettling && (settlements.isEmpty || isStuck)
    }

    fileprivate mutating func takeEnded() -> CheckedContinuation<Void, Never>? {
        guard isIdle else { return nil }
        defer { ended = nil }
        return ended
    }
}
