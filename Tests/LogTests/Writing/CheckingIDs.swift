// When a batch of messages looks for its ids before it is written.
import Testing

@testable import Log

@Suite("Checking ids")
struct CheckingIDs {
    private func answers(_ count: Int, of checks: inout IDChecks) -> Set<Bool> {
        Set((0..<count).map { _ in checks.next() })
    }

    @Test("batches look for a while after an id was taken, so that few are written twice")
    func afterARepeat() {
        var checks = IDChecks()
        let before = answers(3, of: &checks)
        checks.found()
        let after = answers(IDChecks.checkedCount, of: &checks)
        let later = answers(3, of: &checks)
        #expect(before == [false] && after == [true] && later == [false])
    }

    @Test("each taken id that is found meanwhile makes the time longer")
    func repeatedly() {
        var checks = IDChecks()
        checks.found()
        for _ in 0..<1_000 {
            let isChecked = checks.next()
            #expect(isChecked)
            checks.found()
        }
    }
}
