// When events are sent to an endpoint, and when they are not. The test sets the clock.
import Domain
import Testing
import Webhooks

@Suite("Scheduling the requests to a webhook", .timeLimit(.minutes(1)))
struct SchedulingRequests {
    private let a = TestedEndpoint.a
    private let b = TestedEndpoint.b
    private let c = TestedEndpoint.c

    @Test("sends one event of a thread at a time, and those of other threads meanwhile")
    func order() {
        var endpoint = TestedEndpoint()
        endpoint.begin([(1, a), (2, a), (3, b)])
        #expect(endpoint.sends() == [1, 3] && endpoint.sends() == [])
        endpoint.answer(3)
        #expect(endpoint.sends() == [])
        endpoint.answer(1)
        #expect(endpoint.sends() == [2])
    }

    @Test("keeps a thread waiting behind its failed event, and no other thread")
    func failedThread() {
        var endpoint = TestedEndpoint()
        endpoint.begin([(1, a), (2, a), (3, b), (4, b)])
        _ = endpoint.sends()
        endpoint.fail(1)
        endpoint.answer(3)
        #expect(endpoint.sends() == [4])
        endpoint.timeMs = 4_999
        #expect(endpoint.sends() == [])
    }

    @Test("has at most 32 requests under way")
    func window() {
        var endpoint = TestedEndpoint()
        endpoint.begin((1...40).map { (Int64($0), ThreadID.make()) })
        #expect(endpoint.sends() == Array(1...32))
        endpoint.answer(7)
        #expect(endpoint.sends() == [33] && endpoint.schedule.inFlightCount == 32)
    }

    @Test("sends nothing while the endpoint has a pause, then one request at a time")
    func pause() {
        var endpoint = TestedEndpoint()
        endpoint.begin([(1, a), (2, b), (3, c), (4, nil)])
        #expect(endpoint.sends() == [1, 2, 3, 4])
        endpoint.answer(1, .failed(status: 429, reason: .status, slows: true, asked: .seconds(10)))
        for position in [Int64(2), 3, 4] { endpoint.answer(position) }
        endpoint.read([(5, b), (6, c)])
        endpoint.timeMs = 9_999
        #expect(endpoint.sends() == [])
        endpoint.timeMs = 10_000
        #expect(endpoint.sends() == [5] && endpoint.sends() == [])
        endpoint.answer(5)
        // The accepted request doubles the bound: an event that was read and the failed one.
        #expect(endpoint.sends() == [6] && endpoint.schedule.inFlightCount == 2)
    }

    @Test("does not slow the endpoint for a failure that is about one event")
    func unslowed() {
        var endpoint = TestedEndpoint()
        endpoint.begin([(1, a), (2, b)])
        _ = endpoint.sends()
        endpoint.fail(1)
        endpoint.read([(3, c)])
        #expect(endpoint.sends() == [3])
    }

    @Test("retries by the schedule, with the content that the log has then")
    func retries() {
        var endpoint = TestedEndpoint(retries: [5, 300])
        endpoint.begin([(1, a), (2, a)])
        _ = endpoint.sends()
        #expect(endpoint.fail(1) == .retried(reason: "status 500"))
        #expect(endpoint.settle() == "cursor 2: failed 1, waiting 2")
        endpoint.timeMs = 4_999
        #expect(endpoint.sends() == [] && endpoint.stepName() == "wait")
        endpoint.timeMs = 5_000
        #expect(endpoint.sends() == [] && endpoint.stepName() == "load 1, 2" && endpoint.load(1) == "send 1")
        #expect(endpoint.schedule.inFlightCount == 1)
        endpoint.fail(1)
        endpoint.timeMs = 304_999
        _ = endpoint.settle()
        #expect(endpoint.sends() == [] && endpoint.stepName() == "wait")
        endpoint.timeMs = 305_000
        #expect(endpoint.sends() == [] && endpoint.stepName() == "load 1, 2" && endpoint.load(1) == "send 1")
        #expect(endpoint.answer(1) == .delivered(afterMs: 305_000))
        #expect(endpoint.sends() == [] && endpoint.stepName() == "load 2")
    }

    @Test("waits as long as the endpoint asks")
    func asked() {
        var endpoint = TestedEndpoint(retries: [5])
        endpoint.begin([(1, a)])
        _ = endpoint.sends()
        endpoint.answer(1, .failed(status: 503, reason: .status, slows: true, asked: .seconds(60)))
        _ = endpoint.settle()
        endpoint.timeMs = 59_999
        #expect(endpoint.sends() == [] && endpoint.stepName() == "wait")
        endpoint.timeMs = 60_000
        #expect(endpoint.sends() == [] && endpoint.stepName() == "load 1")
    }

    @Test("parks an event after the last retry, and continues with the next one of its thread")
    func parking() throws {
        var endpoint = TestedEndpoint(retries: [1])
        endpoint.begin([(1, a), (2, a)])
        _ = endpoint.sends()
        endpoint.fail(1)
        endpoint.timeMs = 1_000
        _ = endpoint.settle()
        #expect(endpoint.sends() == [] && endpoint.stepName() == "load 1, 2" && endpoint.load(1) == "send 1")
        let answer = endpoint.answer(1, .failed(status: nil, reason: .timeout, slows: false, asked: nil))
        #expect(answer == .parked(reason: "timeout"))
        #expect(endpoint.sends() == [] && endpoint.schedule.inFlightCount == 1)
        endpoint.timeMs = 1_250
        let settlement = endpoint.settlement()
        let open = try #require(settlement?.outcomes.open.first)
        let parked = open.delivery
        #expect(open.state == .parked && parked.tryCount == 2 && parked.nextMs == nil)
        #expect(parked.status == nil && parked.reason == "timeout" && parked.position == Position(1))
        // The next one waited behind it, so the database has its row, and the log its content.
        endpoint.schedule.settled(isOurs: true, now: endpoint.now)
        #expect(endpoint.stepName() == "load 2" && endpoint.load(2) == "send 2")
    }

    @Test("gives up an event that the log no longer has, and continues with the next one of its thread")
    func lost() {
        for isKept in [false, true] {
            var endpoint = TestedEndpoint(retries: [1])
            endpoint.begin([(1, a), (2, a)])
            _ = endpoint.sends()
            endpoint.fail(1)
            _ = endpoint.settle()
            endpoint.timeMs = 1_000
            #expect(endpoint.sends() == [] && endpoint.stepName() == "load 1, 2")
            if isKept {
                // Another event at its position: the log has lost its tail.
                var other = TestedEndpoint.event(1)
                other.message = WebhookMessage(id: "evt_0_1_1", body: [])
                let loaded = endpoint.schedule.loaded([Position(1)], [other], now: endpoint.now)
                #expect(loaded.sends.isEmpty && loaded.lostCount == 1)
            } else {
                #expect(endpoint.load(1, isKept: false) == "lost")
            }
            #expect(endpoint.sends() == [] && endpoint.settle() == "cursor 2: removed 1")
            #expect(endpoint.stepName() == "load 2")
        }
    }

    @Test("does not send what was read again during a pause, and reads it once more after the pause")
    func loadedInPause() {
        var endpoint = TestedEndpoint(retries: [1])
        endpoint.begin([(1, a), (2, b)])
        _ = endpoint.sends()
        endpoint.fail(1)
        _ = endpoint.settle()
        endpoint.timeMs = 1_000
        #expect(endpoint.sends() == [])
        endpoint.answer(2, .failed(status: 503, reason: .status, slows: true, asked: .seconds(20)))
        #expect(endpoint.load(1) == "put back" && endpoint.schedule.inFlightCount == 0)
        endpoint.timeMs = 20_999
        #expect(endpoint.sends() == [])
        _ = endpoint.settle()
        endpoint.timeMs = 21_000
        #expect(endpoint.sends() == [] && endpoint.stepName() == "load 1" && endpoint.load(1) == "send 1")
    }

    @Test("reads the next events of a thread with the one that is due, and reads them again after a failure")
    func loadedAhead() {
        var endpoint = TestedEndpoint(retries: [5, 5, 5])
        endpoint.begin([(1, a), (2, a), (3, a), (4, b)])
        #expect(endpoint.sends() == [1, 4])
        endpoint.fail(1)
        endpoint.timeMs = 5_000
        #expect(endpoint.settle() == "cursor 3: failed 1, waiting 2, waiting 3")
        #expect(endpoint.sends() == [] && endpoint.stepName() == "load 1, 2, 3")
        #expect(endpoint.load(1, 2, 3) == "send 1")
        endpoint.answer(1)
        #expect(!endpoint.schedule.needsStep && endpoint.sends() == [2])
        endpoint.fail(2)
        endpoint.timeMs = 10_000
        #expect(endpoint.settle() == "cursor 3: delivered 1, failed 2")
        #expect(endpoint.sends() == [] && endpoint.stepName() == "load 2, 3" && endpoint.load(2, 3) == "send 2")
        // A pause of all threads.
        endpoint.answer(4, .failed(status: 503, reason: .status, slows: true, asked: .seconds(1)))
        endpoint.answer(2)
        #expect(endpoint.sends() == [])
        endpoint.timeMs = 11_000
        _ = endpoint.settle()
        #expect(endpoint.sends() == [] && endpoint.stepName() == "load 3" && endpoint.load(3) == "send 3")
    }

    @Test("reads the events that wait with few queries, however many wait")
    func loadsTogether() {
        var endpoint = TestedEndpoint()
        let waiting = (1...1_000).map { number in
            OpenDelivery(
                position: Position(Int64(number)), event: TestedEndpoint.name(of: Int64(number)),
                thread: number.isMultiple(of: 2) ? a : b, atMs: 0)
        }
        endpoint.open(at: 1_000, waiting: waiting)
        var (queryCount, sent): (Int, [Int64]) = (0, [])
        while sent.count < 1_000, queryCount < 1_000 {
            for position in endpoint.sends() {
                sent.append(position)
                endpoint.answer(position)
            }
            guard case .claim(.load(let positions, _)) = endpoint.step() else { continue }
            queryCount += 1
            let loaded = endpoint.schedule.loaded(
                positions, positions.map { TestedEndpoint.event($0.value) }, now: endpoint.now)
            for sending in loaded.sends {
                sent.append(sending.position.value)
                endpoint.answer(sending.position.value)
            }
        }
        #expect(sent.count == 1_000 && queryCount <= 1_000 / 32, "\(queryCount) queries")
    }

    @Test("sends again after a second what the node could not send, without counting a try")
    func unsent() {
        var endpoint = TestedEndpoint(retries: [])
        endpoint.begin([(1, a), (2, a)])
        _ = endpoint.sends()
        #expect(endpoint.answer(1, .unsent) == .unsent)
        endpoint.timeMs = 999
        #expect(endpoint.sends() == [])
        endpoint.timeMs = 1_000
        #expect(endpoint.sends() == [1])
        endpoint.answer(1)
        #expect(endpoint.sends() == [2])
        endpoint.timeMs = 1_250
        #expect(endpoint.settlement()?.outcomes.delivered.map(\.tryCount) == [1])
    }

    @Test("counts one answer for each request")
    func answeredTwice() {
        var endpoint = TestedEndpoint(retries: [5, 300])
        endpoint.begin([(1, a), (2, b)])
        _ = endpoint.sends()
        endpoint.fail(1)
        #expect(endpoint.fail(1) == .unknown && endpoint.answer(1) == .unknown)
        endpoint.answer(2)
        #expect(endpoint.fail(2) == .unknown && endpoint.answer(9) == .unknown)
        #expect(endpoint.settle() == "cursor 2: delivered 2, failed 1")
        endpoint.timeMs = 5_000
        #expect(endpoint.sends() == [] && endpoint.stepName() == "load 1")
        // It is not under way before its content was read.
        #expect(endpoint.answer(1) == .unknown)
    }

    @Test("reads at most 512 events ahead, and no more than 4 MiB of them")
    func ahead() {
        var endpoint = TestedEndpoint()
        endpoint.open()
        endpoint.head = 2_000
        endpoint.read((1...511).map { (Int64($0), a) }, end: 2_000)
        #expect(endpoint.stepName() == "read after 511")
        endpoint.read([(512, a)], end: 2_000)
        #expect(endpoint.stepName() == "wait")
        _ = endpoint.sends()
        endpoint.answer(1)
        #expect(endpoint.sends() == [2] && endpoint.stepName() == "read after 512")

        endpoint = TestedEndpoint()
        endpoint.open()
        endpoint.read([(1, a)], end: 9, byteCount: (4 << 20) - 1)
        #expect(endpoint.stepName() == "read after 1")
        endpoint.read([(2, a)], end: 9, byteCount: 1)
        #expect(endpoint.stepName() == "wait" && endpoint.sends() == [1])
        endpoint.answer(1)
        #expect(endpoint.sends() == [2] && endpoint.stepName() == "read after 2")
    }

    @Test("reads nothing new while too many events have failed")
    func openEvents() {
        var limits = WebhookSchedule.Limits()
        limits.openCountMax = 2
        var endpoint = TestedEndpoint(limits: limits)
        let failed = OpenDelivery(
            position: Position(1), event: TestedEndpoint.name(of: 1), thread: a, atMs: 0, tryCount: 1,
            nextMs: TestedEndpoint.wallMs(100))
        endpoint.open(at: 3, waiting: [failed])
        #expect(endpoint.stepName() == "read after 3")
        endpoint.read([(4, a)], end: 9)
        // Waits behind the failed event, and gets a row.
        endpoint.timeMs = 5_000
        #expect(endpoint.settle() == "cursor 4: waiting 4")
        #expect(endpoint.stepName() == "wait")
    }

    @Test("compares the head once for each wake-up when a read finds less than the head")
    func lateReads() {
        var endpoint = TestedEndpoint()
        #expect(endpoint.stepName() == "open")
        endpoint.open(at: 5)
        #expect(endpoint.stepName() == "read after 5")
        endpoint.head = 7
        endpoint.read([], next: 5, end: 5)
        #expect(endpoint.stepName() == "wait" && endpoint.stepName() == "read after 5")
        endpoint.read([(7, a)])
        #expect(endpoint.stepName() == "wait" && endpoint.stepName() == "wait")
    }

    @Test("asks for a step when little is left to send, or nothing is under way")
    func needsStep() {
        var endpoint = TestedEndpoint()
        endpoint.open()
        endpoint.read((1...300).map { (Int64($0), ThreadID.make()) }, end: 900)
        _ = endpoint.sends()
        endpoint.answer(1)
        #expect(!endpoint.schedule.needsStep)
        for position in 2...32 { endpoint.answer(Int64(position)) }
        #expect(endpoint.sends() == Array(33...64))
        // 255 are left, of which the node knows that the log has more.
        for position in 33...44 { endpoint.answer(Int64(position)) }
        #expect(!endpoint.schedule.needsStep)
        endpoint.answer(45)
        #expect(endpoint.schedule.needsStep)

        endpoint = TestedEndpoint()
        endpoint.begin([(1, a), (2, b)])
        _ = endpoint.sends()
        endpoint.answer(1)
        #expect(!endpoint.schedule.needsStep)
        endpoint.answer(2)
        #expect(endpoint.schedule.needsStep)
    }

    @Test("asks for a step when the next event of a thread is to be read again, whatever else is under way")
    func needsContent() {
        var endpoint = TestedEndpoint()
        endpoint.begin([(1, a), (2, a), (3, b)])
        _ = endpoint.sends()
        endpoint.fail(1)
        endpoint.timeMs = 250
        #expect(endpoint.settle() == "cursor 2: failed 1, waiting 2")
        endpoint.timeMs = 5_000
        #expect(endpoint.sends() == [] && endpoint.stepName() == "load 1, 2" && endpoint.load(1) == "send 1")
        #expect(!endpoint.schedule.needsStep)
        endpoint.answer(1)
        // Thread b's request is under way all the time.
        #expect(endpoint.sends() == [] && endpoint.schedule.inFlightCount == 2 && endpoint.schedule.needsStep)
        #expect(endpoint.settle() == "cursor 2: delivered 1")
        #expect(endpoint.stepName() == "load 2" && endpoint.load(2) == "send 2")
        #expect(!endpoint.schedule.needsStep)
    }

    @Test("reports how far an endpoint is behind")
    func lag() {
        var endpoint = TestedEndpoint()
        endpoint.head = 10
        endpoint.open(at: 3)
        endpoint.read([(4, a), (6, b)], next: 7, end: 10)
        endpoint.timeMs = 2_500
        let lag = endpoint.lag(head: 10)
        #expect(lag.eventCount == 5 && lag.seconds == 2.5)
        _ = endpoint.sends()
        for position in [Int64(4), 6] { endpoint.answer(position) }
        let later = endpoint.lag(head: 7)
        #expect(later.eventCount == 0 && later.seconds == 0)
    }
}
