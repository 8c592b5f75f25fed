// Which fault happens when: random, but the same for the same seed.
import TestSupport

/// What is done to a running service. Each is a test of its own, too, in Faults/.
enum Fault: String, CaseIterable {
    case nodeKilled = "nodes killed"
    case nodeStopped = "nodes stopped"
    case rollingRestart = "rolling restarts"
    case databaseKilled = "PostgreSQL killed"
    case sessionKilled = "sessions killed"
    case listenerCut = "listeners cut"
    case poolCut = "pools cut"
    case clientsVanish = "clients vanished"
    case slowReaders = "slow readers"
}

/// One fault, to whom, for how long, and how long after its beginning the next one comes.
struct ChaosStep: Equatable {
    let fault: Fault
    let node: Int
    let length: Duration
    let pause: Duration
}

/// Faults without end: a shuffled deck after the other, each with every fault in it.
struct ChaosPlan: Sequence, IteratorProtocol {
    private let nodeCount: Int
    private var numbers: SplitMix64
    private var deck: [Fault] = []

    init(seed: UInt64, nodeCount: Int) {
        self.nodeCount = nodeCount
        numbers = SplitMix64(seed: seed)
    }

    mutating func next() -> ChaosStep? {
        if deck.isEmpty {
            // kill -9 is what everything else comes down to in the end: it comes three times as often.
            deck = (Fault.allCases + [.nodeKilled, .nodeKilled]).shuffled(using: &numbers)
        }
        let fault = deck.removeLast()
        return ChaosStep(
            fault: fault, node: .random(in: 0..<nodeCount, using: &numbers),
            length: .milliseconds(Int.random(in: Self.milliseconds(of: fault), using: &numbers)),
            pause: .milliseconds(Int.random(in: 200...2_500, using: &numbers)))
    }

    private static func milliseconds(of fault: Fault) -> ClosedRange<Int> {
        switch fault {
        // A moment, or long enough for everyone to notice.
        case .nodeKilled, .databaseKilled: 0...3_000
        case .nodeStopped: 50...5_000
        case .clientsVanish, .slowReaders: 200...8_000
        // They last as long as it takes the nodes.
        case .rollingRestart, .sessionKilled, .listenerCut, .poolCut: 0...0
        }
    }
}
