// Which fault happens when: random, but the same for the same seed.
import TestSupport

/// A fault that is injected into a running service. Faults/ has a test for each.
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

/// One fault, its node, its length, and the time until the next fault starts.
struct ChaosStep: Equatable {
    let fault: Fault
    let node: Int
    let length: Duration
    let pause: Duration
}

/// An endless sequence of faults: shuffled decks, each with every fault.
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
            // kill -9 is three times as frequent, because it covers most other failures.
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
        // From a moment to a time in which every client is affected.
        case .nodeKilled, .databaseKilled: 0...3_000
        case .nodeStopped: 50...5_000
        case .clientsVanish, .slowReaders: 200...8_000
        // These last as long as the nodes need.
        case .rollingRestart, .sessionKilled, .listenerCut, .poolCut: 0...0
        }
    }
}
