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
