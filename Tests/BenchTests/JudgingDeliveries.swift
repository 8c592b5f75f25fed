// Whether all messages arrived, once and in order.
import Bench
import Testing

@Suite("Judging deliveries", .timeLimit(.minutes(1)))
struct JudgingDeliveries {
    private func verdict(_ seqs: [Int64], after: Int64 = 0, head: Int64) throws -> [Int] {
        let thread = try #require(ThreadKey("0197a000-0000-7000-8000-000000000001"))
        var deliveries = Deliveries()
        deliveries.expect(thread, after: after)
        for seq in seqs { deliveries.take(SeenMessage(thread: thread, seq: seq)) }
        let verdict = deliveries.verdict(heads: [thread: head])
        #expect(verdict.messages == seqs.count)
        return [verdict.lost, verdict.doubled, verdict.outOfOrder]
    }

    @Test("finds nothing wrong with all of them in order")
    func good() throws {
        #expect(try verdict([1, 2, 3, 4], head: 4) == [0, 0, 0])
        #expect(try verdict([8, 9], after: 7, head: 9) == [0, 0, 0])
        #expect(try verdict([], after: 7, head: 7) == [0, 0, 0])
    }

    @Test("counts messages lost at the beginning, in the middle and at the end")
    func lost() throws {
        #expect(try verdict([2, 3], head: 3) == [1, 0, 0])
        #expect(try verdict([1, 5], head: 5) == [3, 0, 0])
        #expect(try verdict([1, 2], head: 4) == [2, 0, 0])
        #expect(try verdict([], after: 7, head: 9) == [2, 0, 0])
    }

    @Test("distinguishes late messages from duplicates")
    func lateOrTwice() throws {
        #expect(try verdict([1, 3, 2, 4], head: 4) == [0, 0, 1])
        #expect(try verdict([1, 5, 3, 2, 4], head: 5) == [0, 0, 3])
        #expect(try verdict([1, 2, 2, 3, 1], head: 3) == [0, 2, 0])
        #expect(try verdict([1, 4, 3, 3], head: 4) == [1, 1, 1])
    }
}
