// Many polling devices on one thread, for measurements and for tests that need thousands.
import Linux
import Synchronization

/// Devices that follow the log, each by its own chain of cursors. 10,000 cost one thread and 1 KB each.
///
/// A swarm is started once, can be asked for its counts from any thread, and is stopped once. When a node fails, its
/// devices continue at the next node after a random wait that grows.
package final class PollSwarm: Sendable {
    /// One device.
    package struct Member: Sendable {
        package var token: String
        /// The cursor to start at; nil for the current position.
        package var cursor: String?
        /// The last seq that it has, by thread. Any other thread begins with the first message received.
        package var heads: [ThreadKey: Int64]

        package init(token: String, cursor: String? = nil, heads: [ThreadKey: Int64] = [:]) {
            self.token = token
            self.cursor = cursor
            self.heads = heads
        }
    }

    /// Sums over all members since the start, except `waiting`.
    package struct Counts: Sendable, Equatable {
        /// Members with a poll under way that may wait.
        package var waiting = 0
        /// Members that received a 200 at least once.
        package var greeted = 0
        package var answers = 0
        package var events = 0
        package var messages = 0
        /// 410: the log no longer had what followed a cursor.
        package var expired = 0
        /// Answers that announced the shutdown of a node.
        package var closings = 0
        /// Connections that failed or broke, and answers that were not HTTP.
        package var failures = 0
        /// Connections after a member's first.
        package var reconnects = 0
        /// Other answers, by status.
        package var refused: [Int: Int] = [:]
        /// A description of the last failure.
        package var lastFailure: String?

        package init() {}

        /// Adds the counts of two swarms.
        package mutating func add(_ other: Counts) {
            waiting += other.waiting
            greeted += other.greeted
            answers += other.answers
            events += other.events
            messages += other.messages
            expired += other.expired
            closings += other.closings
            failures += other.failures
            reconnects += other.reconnects
            refused.merge(other.refused, uniquingKeysWith: +)
            lastFailure = other.lastFailure ?? lastFailure
        }
    }

    /// The result of one member.
    package struct Outcome: Sendable {
        package let cursor: String
        package let deliveries: Deliveries
    }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private let endpoints: [Endpoint]
    private let members: [Member]
    private let settings: PolledDevice.Settings
    private let openingCountMax: Int
    private let control: SwarmControl

    /// - Parameters:
    /// - urls: the nodes, `http://host:port`. Members start at the nodes in turn.
    /// - openingCountMax: members that open their first poll at once. Another starts when one was answered.
    package init(
        urls: [String], members: [Member], settings: PolledDevice.Settings = .init(), openingCountMax: Int = 200
    ) throws {
        precondition(!urls.isEmpty && openingCountMax > 0)
        endpoints = try urls.map { url throws(Endpoint.Failure) in try Endpoint(url: url) }
        self.members = members
        self.settings = settings
        self.openingCountMax = openingCountMax
        control = try SwarmControl()
    }

    /// Polls until `stop`, then closes all connections and returns what was received. Call it once. Raises the
    /// process's limit of open files. Throws `CancellationError` when the task is cancelled.
    package func run() async throws -> [Outcome] {
        raiseFileLimit()
        return try await onEventLoop("poll-swarm", waker: control.waker) { [self] loop in
            Swarm(loop, endpoints, members, settings, openingCountMax, control).run()
        }
    }

    package var counts: Counts { control.counts }

    package func stop() { control.stop() }

    /// Waits until every member has a poll under way that may wait. The node's metrics show whether it has parked the
    /// poll.
    /// - Throws: `Failure` after the time limit.
    package func waitUntilWaiting(within limit: Duration) async throws {
        let deadline = ContinuousClock.now + limit
        while counts.waiting < members.count {
            guard ContinuousClock.now < deadline else {
                throw Failure(description: "of \(members.count) polls not all wait within \(limit): \(counts)")
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}

/// The state that a swarm's thread shares with other threads.
final class SwarmControl: Sendable {
    let waker: Waker
    private let state = Mutex((counts: PollSwarm.Counts(), isStopped: false))

    init() throws(SystemFailure) { waker = try Waker() }

    var counts: PollSwarm.Counts { state.withLock { $0.counts } }
    var isStopped: Bool { state.withLock { $0.isStopped } }

    func change(_ body: (inout PollSwarm.Counts) -> Void) { state.withLock { body(&$0.counts) } }

    func stop() {
        state.withLock { $0.isStopped = true }
        waker.wake()
    }
}

/// The swarm on its thread.
private final class Swarm: PollObserver {
    private let loop: EventLoop
    private let control: SwarmControl
    private let openingCountMax: Int
    private var pollers: [PolledDevice] = []
    private var startedCount = 0
    /// The members that have received a 200, by index.
    private var greeted: Set<Int> = []
    private var reconnects: [Int]

    init(
        _ loop: EventLoop, _ endpoints: [Endpoint], _ members: [PollSwarm.Member], _ settings: PolledDevice.Settings,
        _ openingCountMax: Int, _ control: SwarmControl
    ) {
        self.loop = loop
        self.control = control
        self.openingCountMax = openingCountMax
        reconnects = Array(repeating: 0, count: members.count)
        pollers = members.enumerated().map { index, member in
            let poller = PolledDevice(
                loop, index: index, endpoints: endpoints, token: member.token, cursor: member.cursor,
                settings: settings, observer: self)
            for (thread, head) in member.heads { poller.expect(thread, after: head) }
            return poller
        }
    }

    func run() -> [PollSwarm.Outcome] {
        loop.whenWoken { [unowned self] in
            if control.isStopped { loop.stop() }
        }
        loop.every(seconds: 1) { [unowned self] in
            let now = MonotonicTime.now
            for poller in pollers { poller.giveUpLatePoll(now) }
        }
        startMore()
        if !control.isStopped { loop.run() }
        return pollers.map { poller in
            poller.stop()
            return PollSwarm.Outcome(
                cursor: String(decoding: poller.cursor, as: UTF8.self), deliveries: poller.deliveries)
        }
    }

    /// Not all at once: a server's backlog of connections is short.
    private func startMore() {
        while startedCount < pollers.count, startedCount - greeted.count < openingCountMax {
            startedCount += 1
            pollers[startedCount - 1].start()
        }
    }

    func poller(_ poller: PolledDevice, saw message: SeenMessage) {
        control.change { $0.messages += 1 }
    }

    func pollerAsked(_ poller: PolledDevice) {
        guard poller.isWaiting else { return }
        control.change { $0.waiting += 1 }
    }

    func poller(_ poller: PolledDevice, received outcome: PollOutcome) {
        let isFirst = poller.isGreeted && greeted.insert(poller.index).inserted
        control.change { counts in
            if poller.isWaiting { counts.waiting -= 1 }
            if isFirst { counts.greeted += 1 }
            counts.reconnects += poller.reconnectCount - reconnects[poller.index]
            counts.count(outcome)
        }
        reconnects[poller.index] = poller.reconnectCount
        if isFirst { startMore() }
    }
}

extension PollSwarm.Counts {
    fileprivate mutating func count(_ outcome: PollOutcome) {
        switch outcome {
        case .events(let count):
            answers += 1
            events += count
        case .nothing(let closing):
            answers += 1
            closings += closing ? 1 : 0
        case .expired: expired += 1
        case .refused(let status):
            refused[status, default: 0] += 1
            lastFailure = "status \(status)"
        case .failed(let failure):
            failures += 1
            lastFailure = failure.description
        }
    }
}
