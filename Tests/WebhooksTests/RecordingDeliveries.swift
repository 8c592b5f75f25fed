// When outcomes and the cursor of an endpoint are recorded. The test sets the clock.
import Domain
import Testing
import Webhooks

@Suite("Recording the deliveries of a webhook", .timeLimit(.minutes(1)))
struct RecordingDeliveries {
    private let a = TestedEndpoint.a
    private let b = TestedEndpoint.b
    private let c = TestedEndpoint.c

    @Test("records when nothing is under way, after 250 ms, or with 256 outcomes")
    func batches() {
        var endpoint = TestedEndpoint()
        endpoint.begin([(1, a), (2, b), (3, c)])
        _ = endpoint.sends()
        endpoint.answer(1)
        endpoint.timeMs = 249
        #expect(endpoint.stepName() == "wait")
        endpoint.timeMs = 250
        #expect(endpoint.settle() == "cursor 1: delivered 1")
        endpoint.answer(2)
        #expect(endpoint.stepName() == "wait")
        endpoint.answer(3)
        #expect(endpoint.settle() == "cursor 3: delivered 2, delivered 3")
        #expect(endpoint.stepName() == "wait")

        endpoint = TestedEndpoint()
        endpoint.begin((1...300).map { (Int64($0), ThreadID.make()) })
        var answeredCount = 0
        while answeredCount < 255 {
            for position in endpoint.sends() where answeredCount < 255 {
                endpoint.answer(position)
                answeredCount += 1
            }
        }
        _ = endpoint.sends()
        #expect(endpoint.stepName() == "wait")
        endpoint.answer(256)
        #expect(endpoint.schedule.needsStep && endpoint.settlement()?.outcomes.delivered.count == 256)
    }

    @Test("reads on before it records few outcomes, and records before it reads on without end")
    func claims() {
        var endpoint = TestedEndpoint()
        endpoint.open()
        endpoint.read([(1, a)], end: 9_000)
        _ = endpoint.sends()
        endpoint.answer(1)
        #expect(endpoint.stepName() == "read after 1")
        endpoint.timeMs = 250
        #expect(endpoint.settle() == "cursor 1: delivered 1" && endpoint.stepName() == "read after 1")
        // Nothing of the log is for this endpoint.
        for next in [Int64(1_000), 2_000] {
            endpoint.read([], next: next, end: 9_000)
            #expect(endpoint.stepName() == "read after \(next)")
        }
        endpoint.timeMs = 5_250
        #expect(endpoint.settle() == "cursor 2000: ")
    }

    @Test("records the cursor alone every 5 s, if it has moved")
    func cursorAlone() {
        var endpoint = TestedEndpoint()
        endpoint.open(at: 5)
        endpoint.read([], next: 9)
        endpoint.timeMs = 4_999
        #expect(endpoint.stepName() == "wait")
        endpoint.timeMs = 5_000
        #expect(endpoint.settle() == "cursor 9: ")
        endpoint.timeMs = 60_000
        #expect(endpoint.stepName() == "wait")
    }

    @Test("never moves the cursor past an event that was not delivered and has no row")
    func cursor() {
        var endpoint = TestedEndpoint()
        endpoint.begin([(2, a), (4, b), (5, a), (6, c)])
        #expect(endpoint.sends() == [2, 4, 6])
        endpoint.answer(4)
        endpoint.timeMs = 250
        #expect(endpoint.settle() == "cursor 1: delivered 4")
        endpoint.answer(2)
        endpoint.timeMs = 500
        #expect(endpoint.settle() == "cursor 4: delivered 2")
        #expect(endpoint.sends() == [5])
        endpoint.answer(6, .unsent)
        endpoint.answer(5)
        #expect(endpoint.settle() == "cursor 5: delivered 5")
    }

    @Test("stores a row for a failed event and for those behind it, and passes them with the cursor")
    func rows() throws {
        var endpoint = TestedEndpoint(retries: [5, 300])
        endpoint.begin([(1, a), (2, b), (3, a), (4, a)])
        _ = endpoint.sends()
        endpoint.answer(1, .failed(status: nil, reason: .connection, slows: false, asked: nil))
        endpoint.answer(2)
        let due = endpoint.settlement()
        let settlement = try #require(due)
        #expect(TestedEndpoint.words(settlement) == "cursor 4: delivered 2, failed 1, waiting 3, waiting 4")
        let failed = try #require(settlement.outcomes.open.first).delivery
        #expect(failed.status == nil && failed.reason == "connection" && failed.tryCount == 1)
        #expect(failed.nextMs == TestedEndpoint.wallMs(5_000) && failed.thread == a)
        let waiting = try #require(settlement.outcomes.open.dropFirst().first).delivery
        #expect(waiting.tryCount == 0 && waiting.nextMs == nil && waiting.event == TestedEndpoint.name(of: 3))
        endpoint.schedule.settled(isOurs: true, now: endpoint.now)
        // The next one of the thread has its row at the latest with the next recorded cursor.
        endpoint.read([(5, a)])
        endpoint.timeMs = 4_999
        #expect(endpoint.stepName() == "wait")
        endpoint.timeMs = 5_000
        #expect(endpoint.settle() == "cursor 5: waiting 5")
    }

    @Test("records many waiting events in parts, and the cursor stops before those of the next part")
    func parts() {
        var limits = WebhookSchedule.Limits()
        limits.waitingCountMax = 2
        var endpoint = TestedEndpoint(limits: limits)
        endpoint.begin([(1, a), (2, a), (3, a), (4, a)])
        _ = endpoint.sends()
        endpoint.fail(1)
        #expect(endpoint.settle() == "cursor 3: failed 1, waiting 2, waiting 3")
        endpoint.timeMs = 4_999
        #expect(endpoint.stepName() == "wait")
        endpoint.timeMs = 5_000
        #expect(endpoint.settle() == "cursor 4: waiting 4")
    }

    @Test("records each outcome once, and one settlement at a time")
    func once() {
        var endpoint = TestedEndpoint()
        endpoint.begin([(1, a), (2, b), (3, c)])
        _ = endpoint.sends()
        endpoint.answer(1)
        endpoint.timeMs = 250
        guard let settlement = endpoint.settlement() else { return }
        #expect(TestedEndpoint.words(settlement) == "cursor 1: delivered 1")
        endpoint.answer(2)
        endpoint.answer(3)
        endpoint.timeMs = 9_000
        #expect(endpoint.settlement() == nil && endpoint.schedule.lastSettlement() == nil)
        endpoint.schedule.settled(isOurs: true, now: endpoint.now)
        #expect(endpoint.settle() == "cursor 3: delivered 2, delivered 3")
        #expect(endpoint.stepName() == "wait")
        // A second report changes nothing.
        endpoint.schedule.settled(isOurs: false, now: endpoint.now)
        endpoint.schedule.settlementFailed(settlement)
        #expect(endpoint.schedule.isOurs && endpoint.stepName() == "wait")
    }

    @Test("records again what could not be recorded; a later outcome of the same event replaces the earlier one")
    func failedSettlement() {
        var endpoint = TestedEndpoint(retries: [1, 1])
        endpoint.begin([(1, a), (2, b), (3, c)])
        _ = endpoint.sends()
        endpoint.fail(1)
        endpoint.answer(2)
        endpoint.timeMs = 250
        guard let first = endpoint.settlement() else { return }
        #expect(TestedEndpoint.words(first) == "cursor 2: delivered 2, failed 1")
        endpoint.timeMs = 1_000
        #expect(endpoint.sends() == [] && endpoint.stepName() == "load 1" && endpoint.load(1) == "send 1")
        endpoint.answer(1)
        endpoint.schedule.settlementFailed(first)
        #expect(endpoint.settle() == "cursor 2: delivered 1, delivered 2")
        endpoint.answer(3)
        #expect(endpoint.settle() == "cursor 3: delivered 3")
    }

    @Test("records failed, lost and disabling answers again when the first try of recording them fails")
    func restored() {
        var endpoint = TestedEndpoint(retries: [1, 1])
        endpoint.begin([(1, a), (2, b), (3, c)])
        _ = endpoint.sends()
        for position in [Int64(1), 2] { endpoint.fail(position) }
        endpoint.timeMs = 1_000
        guard let first = endpoint.settlement() else { return }
        #expect(TestedEndpoint.words(first) == "cursor 2: failed 1, failed 2")
        endpoint.schedule.settlementFailed(first)
        #expect(endpoint.sends() == [] && endpoint.settle() == "cursor 2: failed 1, failed 2")
        #expect(endpoint.stepName() == "load 1, 2" && endpoint.load(1, isKept: false) == "lost")
        endpoint.answer(3, .gone)
        guard let second = endpoint.settlement() else { return }
        #expect(TestedEndpoint.words(second) == "cursor 2: removed 1, gone")
        endpoint.schedule.settlementFailed(second)
        #expect(endpoint.settle() == "cursor 2: removed 1, gone")
    }

    @Test("continues from the recorded place: failed events when they are due, those behind them after that")
    func reopened() throws {
        var endpoint = TestedEndpoint(retries: [5, 300])
        let failed = OpenDelivery(
            position: Position(2), event: TestedEndpoint.name(of: 2), thread: a, atMs: TestedEndpoint.wallMs(0),
            tryCount: 1, nextMs: TestedEndpoint.wallMs(700))
        let waiting = OpenDelivery(
            position: Position(4), event: TestedEndpoint.name(of: 4), thread: a, atMs: TestedEndpoint.wallMs(0))
        endpoint.open(at: 3, waiting: [failed, waiting])
        #expect(endpoint.sends() == [] && endpoint.stepName() == "read after 3")
        // The log has the waiting one, too.
        endpoint.read([(4, a), (5, b)])
        #expect(endpoint.sends() == [5])
        endpoint.answer(5)
        #expect(endpoint.settle() == "cursor 5: delivered 5")
        endpoint.timeMs = 699
        #expect(endpoint.sends() == [] && endpoint.stepName() == "wait")
        endpoint.timeMs = 700
        #expect(endpoint.sends() == [] && endpoint.stepName() == "load 2, 4" && endpoint.load(2) == "send 2")
        endpoint.answer(2)
        let settlement = endpoint.settlement()
        let delivered = try #require(settlement?.outcomes.delivered.first)
        #expect(delivered.position == Position(2) && delivered.tryCount == 2)
        endpoint.schedule.settled(isOurs: true, now: endpoint.now)
        #expect(endpoint.sends() == [] && endpoint.stepName() == "load 4" && endpoint.load(4) == "send 4")
    }

    @Test("sends all events after the place again once a replay has moved it back")
    func replay() {
        var endpoint = TestedEndpoint()
        endpoint.begin([(1, a), (2, a)])
        for position in [Int64(1), 2] {
            #expect(endpoint.sends() == [position])
            endpoint.answer(position)
        }
        #expect(endpoint.settle() == "cursor 2: delivered 1, delivered 2")
        #expect(endpoint.renew(claim: 2, untilMs: 9_000) == false)
        #expect(endpoint.stepName() == "end" && endpoint.schedule.lastSettlement() == nil)
        var next = TestedEndpoint(claim: 2)
        next.begin([(1, a), (2, a)])
        for position in [Int64(1), 2] {
            #expect(next.sends() == [position])
            next.answer(position)
        }
        #expect(next.settle() == "cursor 2: delivered 1, delivered 2")
    }
}
