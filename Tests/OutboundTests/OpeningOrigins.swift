// How fast connections to a server are opened. The test sets the clock.
import Testing

@testable import Outbound

@Suite("Opening origins", .timeLimit(.minutes(1)))
struct OpeningOrigins {
    /// `#expect` cannot call a mutating method, so this class does.
    private final class Gate {
        private var gate = OriginGate<Int>(heldMax: .seconds(1), originCountMax: 3)

        func admit(_ items: ClosedRange<Int>, to name: String = "a", isOpen: Bool, now: ContinuousClock.Instant)
            -> [Int]
        {
            items.filter { gate.admit($0, to: name, isOpen: isOpen, now: now) }
        }

        func ended(
            at name: String = "a", hasAnswered: Bool, isOpen: Bool, now: ContinuousClock.Instant
        ) -> [Int] { gate.ended(at: name, hasAnswered: hasAnswered, isOpen: isOpen, now: now) }

        func takeOverdue(now: ContinuousClock.Instant) -> [Int] { gate.takeOverdue(now: now) }
        func takeAll() -> [Int] { gate.takeAll() }
        var nextDeadline: ContinuousClock.Instant? { gate.nextDeadline }
    }

    private let start = ContinuousClock.now
    private let gate = Gate()

    @Test("lets one transfer start on a new connection, and one more with each answer")
    func steps() {
        #expect(gate.admit(0...9, isOpen: false, now: start) == [0])
        #expect(gate.ended(hasAnswered: true, isOpen: true, now: start) == [1, 2])
        #expect(gate.ended(hasAnswered: true, isOpen: true, now: start) == [3, 4])
        #expect(gate.ended(hasAnswered: true, isOpen: true, now: start) == [5, 6])
        // A failed transfer makes room for one other only.
        #expect(gate.ended(hasAnswered: false, isOpen: true, now: start) == [7])
        #expect(gate.admit(0...1, to: "b", isOpen: false, now: start) == [0])
    }

    @Test("starts over when the last connection has closed")
    func anew() {
        #expect(gate.admit(0...0, isOpen: false, now: start) == [0])
        #expect(gate.ended(hasAnswered: true, isOpen: true, now: start) == [])
        #expect(gate.admit(1...3, isOpen: true, now: start) == [1, 2])
        #expect(gate.ended(hasAnswered: false, isOpen: false, now: start) == [])
        #expect(gate.ended(hasAnswered: false, isOpen: false, now: start) == [3])
        #expect(gate.ended(hasAnswered: true, isOpen: true, now: start) == [])
        #expect(gate.admit(4...6, isOpen: false, now: start) == [4])
    }

    @Test("starts over when its connections were idle for ten seconds", arguments: [(9, [1, 2]), (10, [1])])
    func idle(_ seconds: Int, _ admitted: [Int]) {
        _ = gate.admit(0...0, isOpen: false, now: start)
        _ = gate.ended(hasAnswered: true, isOpen: true, now: start)
        #expect(gate.admit(1...3, isOpen: true, now: start + .seconds(seconds)) == admitted)
    }

    @Test("delays a transfer for at most a second")
    func heldMax() {
        _ = gate.admit(0...1, isOpen: false, now: start)
        _ = gate.admit(2...2, isOpen: false, now: start + .milliseconds(500))
        #expect(gate.nextDeadline == start + .seconds(1))
        #expect(gate.takeOverdue(now: start + .milliseconds(999)) == [])
        #expect(gate.takeOverdue(now: start + .seconds(1)) == [1])
        #expect(gate.takeOverdue(now: start + .seconds(1)) == [])
        #expect(gate.nextDeadline == start + .milliseconds(1_500))
        #expect(gate.takeAll() == [2] && gate.nextDeadline == nil)
    }

    @Test("forgets origins with nothing under way when there are too many")
    func bounded() {
        for name in ["a", "b", "c"] {
            _ = gate.admit(0...0, to: name, isOpen: false, now: start)
            if name != "c" { _ = gate.ended(at: name, hasAnswered: true, isOpen: true, now: start) }
        }
        _ = gate.admit(0...0, to: "d", isOpen: false, now: start)
        #expect(gate.admit(1...1, to: "c", isOpen: true, now: start) == [])
        // The origin had two before.
        #expect(gate.admit(0...1, to: "a", isOpen: true, now: start) == [0])
    }
}
