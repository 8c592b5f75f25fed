// When failed deliveries are retried, and how an endpoint that asks for less gets less. The test sets clock and chance.
import Basics
import Domain
import Outbound
import Testing
import Webhooks

@Suite("Retrying deliveries to a webhook", .timeLimit(.minutes(1)))
struct RetryingDeliveries {
    private let start = ContinuousClock.now
    private func at(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

    @Test("follows the schedule with a tenth of jitter, and then parks")
    func schedule() {
        let retries = Retries.webhook()
        let seconds = [5.0, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
        for (number, planned) in seconds.enumerated() {
            for (random, factor) in [(0.0, 0.9), (0.5, 1), (1, 1.1)] {
                let wait = retries.wait(afterTry: number + 1, asked: nil, random: random) ?? .zero
                #expect(abs(wait / .seconds(1) - planned * factor) < 0.001)
            }
        }
        #expect(retries.wait(afterTry: 10, asked: nil, random: 0.5) == nil && retries.tryCountMax == 10)
        #expect(Retries.webhook(seconds: [1]).wait(afterTry: 2, asked: .seconds(9), random: 0) == nil)
    }

    @Test("waits as long as the endpoint asks, but not for more than an hour longer than planned")
    func asked() {
        let retries = Retries.webhook(seconds: [5])
        #expect(retries.wait(afterTry: 1, asked: .seconds(60), random: 0.5) == .seconds(60))
        #expect(retries.wait(afterTry: 1, asked: .seconds(1), random: 0.5) == .seconds(5))
        #expect(retries.wait(afterTry: 1, asked: .seconds(86_400), random: 0.5) == .seconds(3_600))
    }

    @Test("allows 32 requests at once, after a slow answer one, and doubles with each acceptance")
    func window() {
        var pace = Pace(.webhook(longestWait: .seconds(86_400)))
        #expect(pace.room(inFlightCount: 0, now: start) == 32 && pace.room(inFlightCount: 32, now: start) == 0)
        pace.failed(now: start)
        #expect(pace.room(inFlightCount: 0, now: at(0.9)) == 0 && pace.room(inFlightCount: 0, now: at(1)) == 1)
        #expect(pace.isSlowed)
        // A request that was under way when the endpoint asked for less.
        pace.accepted(now: at(0.5))
        #expect(pace.room(inFlightCount: 0, now: at(0.9)) == 0 && pace.room(inFlightCount: 0, now: at(1)) == 1)
        for window in [2, 4, 8, 16, 32, 32] {
            pace.accepted(now: at(1))
            #expect(pace.room(inFlightCount: 0, now: at(1)) == window)
        }
        #expect(!pace.isSlowed)
    }

    @Test("pauses for longer and longer, at most as long as the longest planned wait")
    func pauses() {
        func pauses(longestWait: Double, _ count: Int) -> [Double] {
            var pace = Pace(.webhook(longestWait: .seconds(longestWait)))
            var now = 0.0
            return (0..<count).map { _ in
                pace.failed(now: at(now))
                let began = now
                while pace.room(inFlightCount: 0, now: at(now)) == 0 { now += 0.5 }
                return now - began
            }
        }
        #expect(pauses(longestWait: 86_400, 8) == [1, 2, 4, 8, 16, 32, 60, 60])
        #expect(pauses(longestWait: 3, 4) == [1, 2, 3, 3])
        #expect(pauses(longestWait: 0, 3) == [1, 1, 1])
    }

    @Test("counts requests that fail together as one failure, and honours the longest Retry-After")
    func together() {
        var pace = Pace(.webhook(longestWait: .seconds(100)))
        for _ in 0..<10 { pace.failed(now: start) }
        #expect(pace.room(inFlightCount: 0, now: at(1)) == 1)
        pace.failed(asked: .seconds(30), now: at(1))
        pace.failed(asked: .seconds(10), now: at(2))
        #expect(pace.room(inFlightCount: 0, now: at(30.9)) == 0 && pace.room(inFlightCount: 0, now: at(31)) == 1)
        pace.failed(asked: .seconds(100_000), now: at(31))
        #expect(pace.room(inFlightCount: 0, now: at(31 + 3_600)) == 1)
    }

    /// Answers 503.
    private let outage = WebhookVerdict.failed(status: 503, reason: .status, slows: true, asked: nil)

    @Test("tries what failed in an outage when the endpoint works again, once, and without counting the try")
    func afterOutage() throws {
        let (a, b, c) = (TestedEndpoint.a, TestedEndpoint.b, TestedEndpoint.c)
        var endpoint = TestedEndpoint(retries: [300, 300])
        endpoint.begin([(1, a), (2, b), (3, c)])
        #expect(endpoint.sends() == [1, 2, 3])
        endpoint.answer(1, outage)
        endpoint.answer(2, .failed(status: nil, reason: .timeout, slows: true, asked: nil))
        endpoint.fail(3)
        #expect(endpoint.settle() == "cursor 3: failed 1, failed 2, failed 3")
        endpoint.timeMs = 1_000
        #expect(endpoint.sends() == [])
        endpoint.read([(4, nil)])
        #expect(endpoint.sends() == [4])
        endpoint.answer(4)
        // The third one failed by itself.
        #expect(endpoint.sends() == [] && endpoint.settle() == "cursor 4: delivered 4")
        #expect(endpoint.stepName() == "load 1, 2" && endpoint.load(1, 2) == "send 1, 2")
        endpoint.answer(1)
        #expect(endpoint.answer(2, outage) == .retried(reason: "status 503"))
        endpoint.timeMs = 2_000
        #expect(endpoint.settle() == "cursor 4: delivered 1" && endpoint.sends() == [])
        // The endpoint works, but the second event alone fails.
        endpoint.read([(5, nil)])
        #expect(endpoint.sends() == [5])
        endpoint.answer(5)
        #expect(endpoint.sends() == [] && endpoint.schedule.isIdle)
        endpoint.timeMs = 300_000
        _ = endpoint.settle()
        #expect(endpoint.sends() == [] && endpoint.stepName() == "load 3, 2" && endpoint.load(3, 2) == "send 3, 2")
        endpoint.answer(3)
        #expect(endpoint.answer(2, outage) == .retried(reason: "status 503"))
        endpoint.timeMs = 600_000
        _ = endpoint.settle()
        #expect(endpoint.sends() == [] && endpoint.stepName() == "load 2" && endpoint.load(2) == "send 2")
        #expect(endpoint.answer(2, outage) == .parked(reason: "status 503"))
        #expect(endpoint.settlement()?.outcomes.open.first?.delivery.tryCount == 3)
    }

    @Test("tries what failed in an outage early on another node, too, and not while the endpoint asks for a pause")
    func afterOutageElsewhere() {
        var endpoint = TestedEndpoint()
        func failed(_ position: Int64, status: Int?, reason: String) -> OpenDelivery {
            OpenDelivery(
                position: Position(position), event: TestedEndpoint.name(of: position), thread: .make(), atMs: 0,
                tryCount: 1, nextMs: TestedEndpoint.wallMs(300_000), status: status, reason: reason)
        }
        endpoint.open(
            at: 3,
            waiting: [
                failed(1, status: nil, reason: "connection"), failed(2, status: 500, reason: "status"),
                failed(3, status: 429, reason: "status"),
            ])
        endpoint.read([(4, nil), (5, TestedEndpoint.a)])
        #expect(endpoint.sends() == [4, 5])
        endpoint.answer(4, .failed(status: 429, reason: .status, slows: true, asked: .seconds(9)))
        // Its request had begun before.
        endpoint.answer(5)
        #expect(endpoint.sends() == [])
        endpoint.timeMs = 9_000
        endpoint.read([(6, TestedEndpoint.b)])
        #expect(endpoint.sends() == [6])
        endpoint.answer(6)
        #expect(endpoint.sends() == [] && endpoint.settle() == "cursor 6: delivered 5, delivered 6, failed 4")
        #expect(endpoint.stepName() == "load 4, 1" && endpoint.load(4, 1) == "send 4, 1")
        endpoint.answer(4)
        #expect(endpoint.sends() == [] && endpoint.stepName() == "load 3")
    }

    @Test("reads what an answer means")
    func verdicts() {
        func verdict(_ status: Int, _ headers: [String: String] = [:]) -> WebhookVerdict {
            WebhookVerdict(.success(TransferAnswer(status: status, headers: headers)), now: 0)
        }
        for status in [200, 201, 202, 204, 299] { #expect(verdict(status) == .delivered(status: status)) }
        #expect(verdict(410) == .gone)
        for status in [301, 302, 307, 308, 400, 401, 404, 500, 501] {
            #expect(verdict(status) == .failed(status: status, reason: .status, slows: false, asked: nil))
        }
        for status in [429, 502, 503, 504] {
            #expect(verdict(status) == .failed(status: status, reason: .status, slows: true, asked: nil))
        }
        #expect(
            verdict(500, ["retry-after": "7"])
                == .failed(status: 500, reason: .status, slows: true, asked: .seconds(7)))
        func failure(_ failure: TransferFailure) -> WebhookVerdict { WebhookVerdict(.failure(failure), now: 0) }
        #expect(failure(.timedOut) == .failed(status: nil, reason: .timeout, slows: true, asked: nil))
        #expect(failure(.failed(reason: "x")) == .failed(status: nil, reason: .connection, slows: true, asked: nil))
        #expect(failure(.forbidden(reason: "x")) == .failed(status: nil, reason: .address, slows: true, asked: nil))
        #expect(failure(.closed) == .unsent && failure(.overloaded) == .unsent)
    }
}
