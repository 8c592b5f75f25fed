// Which runs of commands a node has, and the consequences of each answer.
import Domain
import Testing
import Webhooks

@Suite("Scheduling the runs of commands", .timeLimit(.minutes(1)))
struct SchedulingCommands {
    private typealias Schedule = CommandSchedule<Int>

    private let reply = JSONText(utf8: Array(#"{"text":"hi"}"#.utf8))

    private func run(_ key: Int, tryCount: Int = 0, refusal: CommandFailure? = nil) -> Schedule.Run {
        Schedule.Run(key: key, word: "/x", tryCount: tryCount, refusal: refusal)
    }

    private func text(_ settlement: CommandSettlement?) -> String? {
        guard case .end(let reply?, _) = settlement?.change else { return nil }
        return String(decoding: reply.utf8, as: UTF8.self)
    }

    @Test("claims no more runs than there is room for, and a run has its room until its outcome is recorded")
    func room() {
        var schedule = Schedule(roomMax: 2)
        #expect(schedule.room == 2)
        for key in [1, 2] { #expect(schedule.claimed(run(key)) == nil) }
        #expect(schedule.room == 0 && schedule.count == 2)
        _ = schedule.answered(1, .answered(nil))
        #expect(schedule.room == 0)
        _ = schedule.settled(1, isRecorded: true)
        #expect(schedule.room == 1 && schedule.count == 1)
        #expect(Schedule().room == 64)
    }

    @Test("posts an answer as the reply, and nothing for an answer without a text")
    func answers() {
        var schedule = Schedule()
        for key in [1, 2] { _ = schedule.claimed(run(key)) }
        let replied = schedule.answered(1, .answered(reply))
        #expect(replied?.change == .end(reply: reply, isGone: false) && replied?.failure == nil)
        #expect(schedule.settled(1, isRecorded: true) == .replied)
        #expect(schedule.answered(2, .answered(nil))?.change == .end(reply: nil, isGone: false))
        #expect(schedule.settled(2, isRecorded: true) == .silent)
    }

    @Test("retries three times, after 1, 5 and 30 s, and then replies with the reason")
    func retries() {
        var schedule = Schedule()
        for (tryCount, seconds) in [(0, 1), (1, 5), (2, 30)] {
            _ = schedule.claimed(run(tryCount, tryCount: tryCount))
            let settlement = schedule.answered(tryCount, .failed(.status(500)))
            #expect(settlement?.change == .putOff(.seconds(seconds), isTried: true))
            #expect(settlement?.failure == .status(500) && schedule.settled(tryCount, isRecorded: true) == .retried)
        }
        _ = schedule.claimed(run(3, tryCount: 3))
        let last = schedule.answered(3, .failed(.timeout))
        #expect(text(last) == #"{"text":"The command /x failed: its server did not answer within 15 s."}"#)
        #expect(last?.failure == .timeout && schedule.settled(3, isRecorded: true) == .failed)
    }

    @Test("replies at once to a refused run, without a request or a retry")
    func refusals() {
        for (failure, reason) in [
            (CommandFailure.busy, "too many messages wait for it"), (.disabled, "it is disabled"),
        ] {
            var schedule = Schedule()
            let settlement = schedule.claimed(run(1, refusal: failure))
            #expect(text(settlement) == #"{"text":"The command /x failed: \#(reason)."}"#)
            #expect(settlement?.failure == failure)
            #expect(schedule.answered(1, .answered(reply)) == nil && schedule.room == 63)
            #expect(schedule.settled(1, isRecorded: true) == .failed)
        }
    }

    @Test("disables a command that answers 410, and its bot says so")
    func gone() {
        var schedule = Schedule()
        _ = schedule.claimed(run(1))
        let settlement = schedule.answered(1, .gone)
        #expect(text(settlement) == #"{"text":"The command /x failed: it is disabled."}"#)
        #expect(settlement?.change == .end(reply: CommandFailure.disabled.payload(of: "/x"), isGone: true))
        #expect(schedule.settled(1, isRecorded: true) == .gone)
    }

    @Test("settles a run once")
    func once() {
        var schedule = Schedule()
        _ = schedule.claimed(run(1))
        #expect(schedule.answered(1, .answered(reply)) != nil && schedule.answered(1, .gone) == nil)
        #expect(schedule.settled(1, isRecorded: true) == .replied && schedule.settled(1, isRecorded: true) == nil)
        #expect(schedule.answered(1, .gone) == nil && schedule.answered(2, .gone) == nil)
    }

    @Test("counts nothing when the claim was lost or the outcome could not be recorded")
    func unrecorded() {
        var schedule = Schedule()
        _ = schedule.claimed(run(1))
        _ = schedule.answered(1, .answered(reply))
        #expect(schedule.settled(1, isRecorded: false) == nil && schedule.count == 0)
    }

    @Test("leaves what it could not send for a second, and at once while the node stops; neither is a try")
    func unsent() {
        var schedule = Schedule(retryWaits: [])
        for key in [1, 2] { _ = schedule.claimed(run(key)) }
        #expect(schedule.answered(1, .unsent)?.change == .putOff(.seconds(1), isTried: false))
        #expect(schedule.settled(1, isRecorded: true) == nil)
        schedule.close()
        #expect(schedule.answered(2, .unsent)?.change == .putOff(.zero, isTried: false))
    }

    @Test("claims nothing while the node stops, and still settles what it has")
    func closing() {
        var schedule = Schedule()
        _ = schedule.claimed(run(1))
        schedule.close()
        #expect(schedule.room == 0 && schedule.count == 1)
        #expect(schedule.answered(1, .answered(reply))?.outcome == .replied)
        #expect(schedule.settled(1, isRecorded: true) == .replied && schedule.room == 0)
    }
}
