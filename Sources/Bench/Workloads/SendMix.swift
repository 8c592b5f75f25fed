// Which threads `parley bench send` has, and which connection sends to which of them.

/// Threads by number from 0, dealt in turn to pairs of connections. Each thread has two senders of its own, one on each
/// connection of its pair.
struct SendMix: Sendable {
    let connectionCount: Int
    let threadCount: Int
    /// How many of a hundred threads are direct ones.
    let directPercent: Int

    init(_ settings: BenchSettings) {
        connectionCount = settings.connectionCount
        threadCount = settings.threadCount ?? settings.connectionCount / 2
        directPercent = settings.directPercent
    }

    var accountCount: Int { 2 * threadCount }

    private var pairCount: Int { connectionCount / 2 }

    func pair(of thread: Int) -> Int { thread % pairCount }

    func threads(of pair: Int) -> [Int] { Array(stride(from: pair, to: threadCount, by: pairCount)) }

    /// Direct threads are spread evenly over the numbers.
    func isDirect(_ thread: Int) -> Bool { (thread + 1) * directPercent / 100 > thread * directPercent / 100 }

    /// The accounts of a thread, by number: the two senders, and in a group the senders of the next threads.
    func members(of thread: Int) -> [Int] {
        let count = min(accountCount, isDirect(thread) ? 2 : BenchRun.groupSize)
        return (0..<count).map { (2 * thread + $0) % accountCount }
    }
}
