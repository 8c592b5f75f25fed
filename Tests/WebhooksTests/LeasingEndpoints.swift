// Which endpoints a node has loops for. The test sets the clock.
import Domain
import Testing
import Webhooks

@Suite("Leasing the endpoints of a node", .timeLimit(.minutes(1)))
struct LeasingEndpoints {
    private let start = ContinuousClock.now
    private let ids = (0..<3).map { _ in WebhookID.make() }.sorted()

    @Test("renews every second, at ticks that come late, so that a lease outlives many failed renewals")
    func renewals() {
        var leases = WebhookLeases()
        var tended: [Int] = []
        for tick in 0..<40 {
            // Some ticks come up to 60 ms late.
            let ms = tick * 250 + (tick % 3) * 30
            if leases.isTendDue(now: start + .milliseconds(ms)) { tended.append(tick) }
        }
        #expect(tended == Array(stride(from: 0, to: 40, by: 4)))
        // The database renews a lease with less than 0.6 of its length left, so this much is left after each look.
        let safe = leases.tended([], began: start).leaseEnd - start
        #expect(safe == .seconds(Double(WebhookLeases.leaseSeconds) * 0.6) && safe > .seconds(10))
    }

    @Test("measures a lease from before the call")
    func leaseEnd() {
        var leases = WebhookLeases()
        #expect(leases.tended([ids[0]], began: start).leaseEnd == start + .seconds(15))
    }

    @Test("begins a loop for a new endpoint, renews the others, and stops those that the node no longer holds")
    func changes() {
        var leases = WebhookLeases()
        let first = leases.tended([ids[0], ids[1]], began: start)
        #expect(first.started == [ids[0], ids[1]] && first.renewed == [] && first.stopped == [])
        #expect(leases.ids == [ids[0], ids[1]])
        let second = leases.tended([ids[1], ids[2]], began: start)
        #expect(second.started == [ids[2]] && second.renewed == [ids[1]] && second.stopped == [ids[0]])
    }

    @Test("begins no second loop of an endpoint before the first one has ended")
    func oneLoop() {
        var leases = WebhookLeases()
        _ = leases.tended([ids[0]], began: start)
        #expect(leases.tended([], began: start).stopped == [ids[0]])
        let again = leases.tended([ids[0]], began: start)
        #expect(again.started == [] && again.renewed == [ids[0]] && leases.ids == [ids[0]])
        leases.ended(ids[0])
        #expect(leases.ids == [] && leases.tended([ids[0]], began: start).started == [ids[0]])
    }
}
