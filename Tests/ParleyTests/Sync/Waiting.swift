// Signals, pauses and back-off.
import Foundation
import TestBasics
import Testing

@testable import Parley

@Suite("Waiting", .timeLimit(.minutes(1)))
struct Waiting {
    @Test("A signal that is set before the wait is not lost, and two become one")
    func signal() async {
        let signal = Signal()
        signal.set()
        signal.set()
        #expect(await signal.wait())
        let waiting = Task { await signal.wait() }
        signal.set()
        #expect(await waiting.value)
        signal.end()
        #expect(await !signal.wait())
    }

    @Test("A cancelled task stops waiting")
    func cancelled() async {
        let signal = Signal()
        let waiting = Task { await signal.wait() }
        waiting.cancel()
        #expect(await !waiting.value)
    }

    @Test("Waits after failures are those of the client guide")
    func waits() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../ClientVectors/waits/waits.json")
        let cases = try #require(try JSONValue(json: Data(contentsOf: file))["cases"]?.array)
        // An SDK that runs is one that somebody looks at: an app in the background suspends it.
        let watched = cases.filter { $0["watched"]?.bool == true }
        #expect(watched.count >= 5)
        for example in watched {
            var backoff = Backoff()
            for failure in example["failures"]?.array ?? [] {
                let wait = backoff.failed(Self.error(failure), random: failure["random"]?.double ?? .nan)
                #expect(wait == .milliseconds(failure["wait_ms"]?.int ?? -1), "\(example["about"]?.string ?? "")")
                if failure["then"]?.string == "success" { backoff.succeeded() }
            }
        }
    }

    private static func error(_ failure: JSONValue) -> ParleyError {
        guard let status = failure["status"]?.int, status > 0 else { return .noAnswer("cut") }
        let headers = failure["retry_after"]?.int.map { ["retry-after": "\($0)"] } ?? [:]
        return .refused(Problem(HTTPResponse(status: status, headers: headers, body: Data())))
    }

    @Test("10,000 clients that lose their node together do not return in the same second")
    func spread() {
        // Each client tries from its first failure on. The node is back after some seconds.
        for (away, attemptsMax) in [(0.0, 5_500), (1.5, 4_500), (60, 4_000)] {
            var returns: [Double] = []
            for _ in 0..<10_000 {
                var backoff = Backoff()
                var now = 0.0
                repeat { now += backoff.failed(.noAnswer("cut")) / .seconds(1) } while now < away
                returns.append(now)
            }
            #expect(returns.allSatisfy { $0 - away <= 4 }, "all are back within 4 s after \(away) s")
            let perSecond = Dictionary(grouping: returns) { Int($0 - away) }.mapValues(\.count)
            #expect(perSecond.values.allSatisfy { $0 <= attemptsMax }, "\(away) s: \(perSecond)")
        }
    }

    @Test("A pause ends at once when something asks for a retry")
    func pause() async throws {
        let hub = ChangeHub()
        let pausing = Task { await hub.pause(.seconds(60)) }
        try await eventually("the pause begins") { hub.listenerCount == 1 }
        hub.publish(Changes(retry: true))
        await pausing.value
    }

    @Test("A list reads again for each change that concerns it, and ends with the store")
    func list() async throws {
        let store = try ClientStore(.memory)
        let number = Locked(0)
        let list = LiveValue(hub: store.changes) {
            $0.account
        } fetch: {
            number.withLock { $0 }
        }
        var values = list.makeAsyncIterator()
        #expect(await values.next() == 0)
        store.changes.publish(Changes(outbox: true))
        number.withLock { $0 = 5 }
        store.changes.publish(Changes(account: true))
        #expect(await values.next() == 5)
        try store.close()
        #expect(await values.next() == nil)
    }
}
