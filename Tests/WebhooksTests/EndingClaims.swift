// What a loop still does when its lease ends, when it is stopped, and when its endpoint changes. The test sets the clock.
import Domain
import Testing
import Webhooks

@Suite("Ending a claim of a webhook", .timeLimit(.minutes(1)))
struct EndingClaims {
    private let a = TestedEndpoint.a
    private let b = TestedEndpoint.b
    private let c = TestedEndpoint.c

    @Test("sends nothing after the lease's end, and continues when the lease is renewed")
    func leaseEnd() {
        var endpoint = TestedEndpoint(leaseMs: 15_000)
        endpoint.begin([(1, a), (2, a), (3, a)])
        endpoint.timeMs = 14_999
        #expect(endpoint.sends() == [1])
        endpoint.timeMs = 15_000
        endpoint.answer(1)
        #expect(endpoint.sends() == [])
        // What was under way is recorded: the database knows whether the claim lasts.
        #expect(endpoint.settle() == "cursor 1: delivered 1" && endpoint.stepName() == "wait")
        #expect(endpoint.renew(untilMs: 20_000) == true)
        endpoint.timeMs = 19_999
        #expect(endpoint.sends() == [2])
        endpoint.answer(2)
        endpoint.timeMs = 20_000
        #expect(endpoint.sends() == [])
    }

    @Test("does not send what is read again when the lease ends meanwhile")
    func loadedLate() {
        var endpoint = TestedEndpoint(retries: [1], leaseMs: 15_000)
        endpoint.begin([(1, a)])
        _ = endpoint.sends()
        endpoint.fail(1)
        _ = endpoint.settle()
        endpoint.timeMs = 14_999
        #expect(endpoint.sends() == [] && endpoint.stepName() == "load 1")
        endpoint.timeMs = 15_000
        #expect(endpoint.load(1) == "put back" && endpoint.schedule.isIdle)
    }

    @Test("drops everything when another claim has the endpoint, as after a replay")
    func otherTurn() {
        var endpoint = TestedEndpoint()
        endpoint.begin([(1, a), (2, a), (3, b)])
        #expect(endpoint.sends() == [1, 3])
        endpoint.answer(3)
        #expect(endpoint.renew(claim: 2, untilMs: 99_000) == false)
        #expect(!endpoint.schedule.isOurs && endpoint.sends() == [] && endpoint.stepName() == "end")
        #expect(endpoint.answer(1) == .delivered(afterMs: 0))
        #expect(endpoint.sends() == [] && endpoint.stepName() == "end" && endpoint.schedule.lastSettlement() == nil)
        // Neither a stop nor a 410 brings the claim back.
        endpoint.schedule.stop()
        #expect(!endpoint.schedule.isOurs && endpoint.stepName() == "end")
    }

    @Test("ends when a settlement finds that another claim has the endpoint")
    func refusedSettlement() {
        var endpoint = TestedEndpoint()
        endpoint.begin([(1, a), (2, b)])
        #expect(endpoint.sends() == [1, 2])
        endpoint.answer(1)
        endpoint.timeMs = 250
        #expect(endpoint.settle(isOurs: false) == "cursor 1: delivered 1")
        endpoint.answer(2, .gone)
        #expect(endpoint.stepName() == "end" && !endpoint.schedule.isOurs)
        #expect(endpoint.schedule.lastSettlement() == nil)
    }

    @Test("sends and reads nothing more after a stop, and waits for what is under way")
    func stop() {
        var endpoint = TestedEndpoint()
        endpoint.begin([(1, a), (2, a), (3, b)])
        endpoint.head = 9
        #expect(endpoint.sends() == [1, 3])
        endpoint.schedule.stop()
        #expect(endpoint.stepName() == "wait" && !endpoint.schedule.isIdle)
        endpoint.answer(1)
        #expect(endpoint.sends() == [] && !endpoint.schedule.isIdle && endpoint.stepName() == "wait")
        endpoint.answer(3)
        #expect(endpoint.schedule.needsStep && endpoint.schedule.isIdle)
        #expect(endpoint.settle() == "cursor 1: delivered 1, delivered 3")
        #expect(endpoint.stepName() == "end" && endpoint.schedule.isOurs)
    }

    @Test("does not end before its last outcomes are recorded")
    func recordingLast() {
        var endpoint = TestedEndpoint()
        endpoint.begin([(1, a)])
        _ = endpoint.sends()
        endpoint.schedule.stop()
        endpoint.answer(1)
        guard let settlement = endpoint.settlement() else { return }
        #expect(endpoint.stepName() == "wait")
        endpoint.schedule.settlementFailed(settlement)
        #expect(endpoint.settle() == "cursor 1: delivered 1" && endpoint.stepName() == "end")
    }

    @Test("records nothing more after a recording that was given up, so that the cursor passes none of its events")
    func recordingGivenUp() throws {
        var endpoint = TestedEndpoint()
        endpoint.begin([(1, a), (2, b), (3, c)])
        #expect(endpoint.sends() == [1, 2, 3])
        endpoint.fail(1)
        endpoint.answer(2)
        endpoint.timeMs = 250
        endpoint.schedule.close()
        let settlement = endpoint.settlement()
        endpoint.schedule.settlementFailed(try #require(settlement))
        endpoint.answer(3)
        endpoint.timeMs = 500
        #expect(endpoint.stepName() == "end" && endpoint.schedule.lastSettlement() == nil && endpoint.schedule.isOurs)
    }

    @Test("does not wait for an event whose content was to be read")
    func stopBeforeLoading() {
        var endpoint = TestedEndpoint(retries: [1])
        endpoint.begin([(1, a)])
        _ = endpoint.sends()
        endpoint.fail(1)
        _ = endpoint.settle()
        endpoint.timeMs = 1_000
        #expect(endpoint.sends() == [] && endpoint.stepName() == "load 1")
        endpoint.schedule.stop()
        #expect(endpoint.schedule.isIdle && endpoint.load(1) == "put back" && endpoint.stepName() == "end")
    }

    @Test("records with the last settlement what was answered, and leaves the rest to the next claim")
    func lastSettlement() throws {
        var endpoint = TestedEndpoint()
        endpoint.begin([(1, a), (2, b), (3, b)])
        _ = endpoint.sends()
        endpoint.answer(2)
        endpoint.schedule.stop()
        endpoint.answer(1, .unsent)
        #expect(endpoint.schedule.isIdle)
        let settlement = endpoint.schedule.lastSettlement()
        let last = try #require(settlement)
        #expect(TestedEndpoint.words(last) == "cursor 0: delivered 2")
    }

    @Test("ends without a settlement when it is stopped before it has opened")
    func unopened() {
        var endpoint = TestedEndpoint()
        endpoint.schedule.stop()
        #expect(endpoint.stepName() == "end" && endpoint.schedule.lastSettlement() == nil && endpoint.schedule.isOurs)
    }

    @Test("stops when the endpoint has other settings, and leaves to the next loop what it has not sent")
    func otherSettings() {
        var endpoint = TestedEndpoint()
        endpoint.begin([(1, a), (2, a)])
        #expect(endpoint.renew(untilMs: 30_000) == true)
        #expect(endpoint.sends() == [1])
        #expect(endpoint.renew(revision: 2, untilMs: 31_000) == false)
        endpoint.answer(1)
        #expect(endpoint.sends() == [] && endpoint.settle() == "cursor 1: delivered 1" && endpoint.stepName() == "end")
    }

    @Test("passes nothing of the log when a read finds other settings")
    func refusedRead() {
        var endpoint = TestedEndpoint()
        endpoint.begin([(1, a)])
        _ = endpoint.sends()
        endpoint.answer(1)
        #expect(endpoint.settle() == "cursor 1: delivered 1" && endpoint.stepName() == "wait")
        endpoint.head = 9
        #expect(endpoint.stepName() == "read after 1")
        // The loop reports a read that was refused. Time alone records no later cursor.
        endpoint.schedule.stop()
        endpoint.timeMs = 60_000
        #expect(endpoint.stepName() == "end")
        #expect(endpoint.schedule.lastSettlement().map(TestedEndpoint.words) == "cursor 1: ")
    }

    @Test("disables an endpoint that answers 410, keeps the event, and records what else was under way")
    func gone() {
        var endpoint = TestedEndpoint()
        endpoint.begin([(1, a), (2, b), (3, c)])
        #expect(endpoint.sends() == [1, 2, 3])
        endpoint.answer(1)
        #expect(endpoint.answer(2, .gone) == .gone)
        #expect(endpoint.sends() == [])
        endpoint.answer(3)
        #expect(endpoint.settle() == "cursor 1: delivered 1, delivered 3, gone")
        #expect(endpoint.stepName() == "end" && endpoint.schedule.isOurs)
    }
}
