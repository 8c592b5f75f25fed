// The consequences of each answer for a run of a command.
import Domain
import Testing
import Webhooks

@Suite("Settling the runs of commands", .timeLimit(.minutes(1)))
struct SettlingCommands {
    private let reply = JSONText(utf8: Array(#"{"text":"hi"}"#.utf8))

    private func settlement(
        _ verdict: CommandVerdict, tryCount: Int = 0, isClosing: Bool = false
    ) -> CommandSettlement {
        CommandSettlement(verdict, of: "/x", tryCount: tryCount, isClosing: isClosing)
    }

    private func text(_ settlement: CommandSettlement) -> String? {
        guard case .end(let reply?, _) = settlement.change else { return nil }
        return String(decoding: reply.utf8, as: UTF8.self)
    }

    @Test("post an answer as the reply, and nothing for an answer without a text")
    func answers() {
        let replied = settlement(.answered(reply))
        #expect(replied.change == .end(reply: reply, isGone: false) && replied.failure == nil)
        #expect(replied.outcome == .replied)
        let silent = settlement(.answered(nil))
        #expect(silent.change == .end(reply: nil, isGone: false) && silent.outcome == .silent)
    }

    @Test("retry three times, after 1, 5 and 30 s, and then reply with the reason")
    func retries() {
        for (tryCount, seconds) in [(0, 1), (1, 5), (2, 30)] {
            let settlement = settlement(.failed(.status(500)), tryCount: tryCount)
            #expect(settlement.change == .putOff(.seconds(seconds), isTried: true))
            #expect(settlement.failure == .status(500) && settlement.outcome == .retried)
        }
        let last = settlement(.failed(.timeout), tryCount: 3)
        #expect(text(last) == #"{"text":"The command /x failed: its server did not answer within 15 s."}"#)
        #expect(last.failure == .timeout && last.outcome == .failed)
    }

    @Test("reply at once to a refused run, without a request or a retry")
    func refusals() {
        for (failure, reason) in [
            (CommandFailure.busy, "too many messages wait for it"), (.disabled, "it is disabled"),
        ] {
            let settlement = CommandSettlement(failure, of: "/x")
            #expect(text(settlement) == #"{"text":"The command /x failed: \#(reason)."}"#)
            #expect(settlement.failure == failure && settlement.outcome == .failed)
        }
    }

    @Test("disable a command that answers 410, and its bot says so")
    func gone() {
        let settlement = settlement(.gone)
        #expect(text(settlement) == #"{"text":"The command /x failed: it is disabled."}"#)
        #expect(settlement.change == .end(reply: CommandFailure.disabled.payload(of: "/x"), isGone: true))
        #expect(settlement.outcome == .gone)
    }

    @Test("leave what could not be sent for a second, and at once while the node stops; neither is a try")
    func unsent() {
        let unsent = settlement(.unsent, tryCount: 9)
        #expect(unsent.change == .putOff(.seconds(1), isTried: false) && unsent.outcome == nil)
        #expect(settlement(.unsent, isClosing: true).change == .putOff(.zero, isTried: false))
    }
}
