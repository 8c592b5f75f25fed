// Which runs of commands a node has, and the consequences of each answer. Decisions only: no I/O, and time is a
// parameter.
import Domain

/// How a try of a run ended.
package enum CommandOutcome: String, CaseIterable, Sendable {
    case replied
    /// The answer has no text.
    case silent
    /// It failed, and is retried.
    case retried
    /// It failed for the last time, or was refused.
    case failed
    /// 410, which disables the command.
    case gone
}

/// What is to be recorded of a run.
package struct CommandSettlement: Sendable, Equatable {
    package enum Change: Sendable, Equatable {
        /// The run ends.
        ///
        /// - Parameters:
        ///   - reply: the payload of the bot's message; nil for none.
        ///   - isGone: whether the command is to be disabled.
        case end(reply: JSONText?, isGone: Bool)
        /// The run is due again after this time.
        ///
        /// - Parameter isTried: whether a try has failed; otherwise the node sent nothing.
        case putOff(Duration, isTried: Bool)
    }

    package var change: Change
    /// Counted once the change is recorded; nil if nothing was sent.
    package var outcome: CommandOutcome?
    /// Why the command failed; nil if it was answered.
    package var failure: CommandFailure?
}

/// The runs that a node has claimed and whose outcome is not recorded yet.
///
/// The caller claims at most `room` runs. It requests those for which `claimed` returns nothing, reports each answer to
/// `answered`, records the settlement, and reports that to `settled`. A run holds its room until then.
///
/// - Parameter Key: names a run and its claim: the same run has another key when it is claimed again.
package struct CommandSchedule<Key: Hashable & Sendable>: Sendable {
    /// A claimed run.
    package struct Run: Sendable {
        package var key: Key
        package var word: String
        /// Tries that failed.
        package var tryCount: Int
        /// Why there is to be no request.
        package var refusal: CommandFailure?

        package init(key: Key, word: String, tryCount: Int, refusal: CommandFailure? = nil) {
            self.key = key
            self.word = word
            self.tryCount = tryCount
            self.refusal = refusal
        }
    }

    private struct Entry {
        var run: Run
        /// Nil while the request is under way.
        var settlement: CommandSettlement?
    }

    private let roomMax: Int
    private let retryWaits: [Duration]
    /// A run that could not be sent for a reason of this node is due again after this time.
    private let unsentWait: Duration
    private var entries: [Key: Entry] = [:]
    private var isClosing = false

    package init(
        roomMax: Int = CommandLimits.nodeRunningCountMax, retryWaits: [Duration] = CommandLimits.retryWaits,
        unsentWait: Duration = .seconds(1)
    ) {
        self.roomMax = roomMax
        self.retryWaits = retryWaits
        self.unsentWait = unsentWait
    }

    /// Runs whose outcome is not recorded yet.
    package var count: Int { entries.count }

    /// How many runs may be claimed now.
    package var room: Int { isClosing ? 0 : max(0, roomMax - entries.count) }

    /// Adds a claimed run. Returns what is to be recorded at once; nil if the request is to be sent.
    package mutating func claimed(_ run: Run) -> CommandSettlement? {
        let settlement = run.refusal.map { CommandSettlement($0, of: run.word) }
        entries[run.key] = Entry(run: run, settlement: settlement)
        return settlement
    }

    /// Reports the answer to a run's request, or that there was none. Returns what is to be recorded; nil if the run was
    /// answered before.
    package mutating func answered(_ key: Key, _ verdict: CommandVerdict) -> CommandSettlement? {
        guard let entry = entries[key], entry.settlement == nil else { return nil }
        let settlement = settlement(of: entry.run, verdict)
        entries[key]?.settlement = settlement
        return settlement
    }

    /// Reports that a settlement was recorded, or never will be, because the node stops or another node has the run.
    /// The run no longer holds room. Returns the outcome to count.
    ///
    /// - Parameter isRecorded: whether the claim lasted and the change was made.
    package mutating func settled(_ key: Key, isRecorded: Bool) -> CommandOutcome? {
        guard let entry = entries.removeValue(forKey: key), isRecorded else { return nil }
        return entry.settlement?.outcome
    }

    /// Claims nothing more. What this node's stop cuts short is due again at once, for another node.
    package mutating func close() { isClosing = true }

    private func settlement(of run: Run, _ verdict: CommandVerdict) -> CommandSettlement {
        switch verdict {
        case .answered(let payload):
            return CommandSettlement(
                change: .end(reply: payload, isGone: false), outcome: payload == nil ? .silent : .replied)
        case .gone:
            let failure = CommandFailure.disabled
            return CommandSettlement(
                change: .end(reply: failure.payload(of: run.word), isGone: true), outcome: .gone, failure: failure)
        case .failed(let failure):
            guard run.tryCount < retryWaits.count else { return CommandSettlement(failure, of: run.word) }
            return CommandSettlement(
                change: .putOff(retryWaits[run.tryCount], isTried: true), outcome: .retried, failure: failure)
        case .unsent:
            return CommandSettlement(change: .putOff(isClosing ? .zero : unsentWait, isTried: false))
        }
    }
}

extension CommandSettlement {
    /// The bot replies with the reason: the run failed for the last time, or was refused.
    fileprivate init(_ failure: CommandFailure, of word: String) {
        self.init(change: .end(reply: failure.payload(of: word), isGone: false), outcome: .failed, failure: failure)
    }
}
