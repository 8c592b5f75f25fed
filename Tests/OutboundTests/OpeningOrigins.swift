// How fast a server is opened up: decisions by a clock of one's own.
import Testing

@testable import Outbound

@Suite("Opening origins")
struct OpeningOrigins {
    /// What is expected of a struct that changes can't be asked within `#expect`.
    private final class Gate {
        private var gate = OriginGate<Int>(patience: .seconds(1), originCountMax: 3)

        func admit(_ items: ClosedRange<Int>, to name: String = "a", isOpen: Bool, now: ContinuousClock.Instant)
            -> [Int]
        {
            items.filter { gate.admit($0, to: name, isOpen: isOpen, now: now) }
        }

        func ended(
            at name: String = "a", hasAnswered: Bool, isOpen: Bool, now: ContinuousClock.Instant
        ) -> [Int] { gate.ended(at: name, hasAnswered: hasAnswered, isOpen: isOpen, now: now) }

        func takeImpatient(now: ContinuousClock.Instant) -> [Int] { gate.takeImpatient(now: now) }
        func takeAll() -> [Int] { gate.takeAll() }
        var nextDeadline: ContinuousClock.Instant? { gate.nextDeadline }
    }

    private let start = ContinuousClock.now
    private let gate = Gate()

    @Test("lets one begin at a new connection, and one more with each answer")
    func steps() {
        #expect(gate.admit(0...9, isOpen: false, now: start) == [0])
        #expect(gate.ended(hasAnswered: true, isOpen: true, now: start) == [1, 2])
        #expect(gate.ended(hasAnswered: true, isOpen: true, now: start) == [3, 4])
        #expect(gate.ended(hasAnswered: true, isOpen: true, now: start) == [5, 6])
        // What fails makes room for itself only.
        #expect(gate.ended(hasAnswered: false, isOpen: true, now: start) == [7])
        #expect(gate.admit(0...1, to: "b", isOpen: false, now: start) == [0])
    }

    @Test("begins anew when the last connection has closed")
    func anew() {
        #expect(gate.admit(0...0, isOpen: false, now: start) == [0])
        #expect(gate.ended(hasAnswered: true, isOpen: true, now: start) == [])
        #expect(gate.admit(1...3, isOpen: true, now: start) == [1, 2])
        #expect(gate.ended(hasAnswered: false, isOpen: false, now: start) == [])
        #expect(gate.ended(hasAnswered: false, isOpen: false, now: start) == [3])
        #expect(gate.ended(hasAnswered: true, isOpen: true, now: start) == [])
        #expect(gate.admit(4...6, isOpen: false, now: start) == [4])
    }

    @Test("begins anew when its connections were idle for ten seconds", arguments: [(9, [1, 2]), (10, [1])])
    func idle(_ seconds: Int, _ admitted: [Int]) {
        _ = gate.admit(0...0, isOpen: false, now: start)
        _ = gate.ended(hasAnswered: true, isOpen: true, now: start)
        #expect(gate.admit(1...3, isOpen: true, now: start + .seconds(seconds)) == admitted)
    }

    @Test("holds nobody for longer than a second")
    func patience() {
        _ = gate.admit(0...1, isOpen: false, now: start)
        _ = gate.admit(2...2, isOpen: false, now: start + .milliseconds(500))
        #expect(gate.nextDeadline == start + .seconds(1))
        #expect(gate.takeImpatient(now: start + .milliseconds(999)) == [])
        #expect(gate.takeImpatient(now: start + .seconds(1)) == [1])
        #expect(gate.takeImpatient(now: start + .seconds(1)) == [])
        #expect(gate.nextDeadline == start + .milliseconds(1_500))
        #expect(gate.takeAll() == [2] && gate.nextDeadline == nil)
    }

    @Test("forgets origins with nothing under way rather than know too many")
    func bounded() {
        for name in ["a", "b", "c"] {
            _ = gate.admit(0...0, to: name, isOpen: false, now: start)
            if name != "c" { _ = gate.ended(at: name, hasAnswered: true, isOpen: true, now: start) }
        }
        _ = gate.admit(0...0, to: "d", isOpen: false, now: start)
        #expect(gate.admit(1...1, to: "c", isOpen: true, now: start) == [])
        // It had two before.
        #expect(gate.admit(0...1, to: "a", isOpen: true, now: start) == [0])
    }
}
