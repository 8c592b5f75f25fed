// The consequences of each answer for a run of a command. Decisions only.
import Basics
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

extension CommandSettlement {
    private static let retries = Retries(CommandLimits.retryWaits)
    /// A run that could not be sent for a reason of this node is due again after this time.
    private static let unsentWait = Duration.seconds(1)

    /// The bot replies with the reason: the run failed for the last time, or was refused.
    package init(_ failure: CommandFailure, of word: String) {
        self.init(change: .end(reply: failure.payload(of: word), isGone: false), outcome: .failed, failure: failure)
    }

    /// - Parameters:
    ///   - tryCount: tries that failed before this one.
    ///   - isClosing: whether the node stops. What that cuts short is due again at once, for another node.
    package init(_ verdict: CommandVerdict, of word: String, tryCount: Int, isClosing: Bool = false) {
        switch verdict {
        case .answered(let payload):
            self.init(change: .end(reply: payload, isGone: false), outcome: payload == nil ? .silent : .replied)
        case .gone:
            let failure = CommandFailure.disabled
            self.init(change: .end(reply: failure.payload(of: word), isGone: true), outcome: .gone, failure: failure)
        case .failed(let failure):
            if let wait = Self.retries.wait(afterTry: tryCount + 1, random: 0) {
                self.init(change: .putOff(wait, isTried: true), outcome: .retried, failure: failure)
            } else {
                self.init(failure, of: word)
            }
        case .unsent: self.init(change: .putOff(isClosing ? .zero : Self.unsentWait, isTried: false))
        }
    }
}
