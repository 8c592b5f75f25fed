// Signals, pauses and back-off.
import Foundation
import TestBasics
import Testing

@testable import ParleyClient

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

    @Test("Waits grow to a minute, and a success starts again")
    func backoff() {
        var backoff = Backoff()
        var waits: [Duration] = []
        for _ in 0..<10 { waits.append(backoff.failed(.noAnswer("cut"))) }
        #expect(waits[0] >= .milliseconds(500) && waits[0] <= .seconds(1))
        #expect(waits[9] >= .seconds(30) && waits[9] <= .seconds(60))
        backoff.succeeded()
        #expect(backoff.failed(.noAnswer("cut")) <= .seconds(1))
    }

    @Test("A server that names a time is believed, with some spread")
    func retryAfter() {
        var backoff = Backoff()
        let answer = HTTPResponse(status: 503, headers: ["retry-after": "7"], body: Data())
        let wait = backoff.failed(.refused(Problem(answer)))
        #expect(wait >= .seconds(7) && wait <= .seconds(8))
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
        let store = try Store(.memory)
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
