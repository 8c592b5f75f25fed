// When each member of a room received each message, and how long each fan-out took.
import Domain
import Synchronization

/// Records when messages are sent and received. Messages are numbered from 0. Number 0 warms up and is not counted.
final class FanoutRecorder: Sendable {
    private struct Flight {
        var began: MonotonicTime?
        var arrivals: [Int64] = []
    }

    private struct State {
        var flights: [Int: Flight] = [:]
        var latencies = FanoutLatencies()
        var completeCount = 0
        var lastMs: Double?
    }

    private let memberCount: Int
    private let state = Mutex(State())

    init(memberCount: Int) { self.memberCount = memberCount }

    func began(_ number: Int, at moment: MonotonicTime) {
        state.withLock { $0.flights[number, default: Flight()].began = moment }
    }

    /// 50 ns, except for the last member's.
    func arrived(_ number: Int, at moment: MonotonicTime) {
        state.withLock { state in
            state.flights[number, default: Flight(arrivals: Self.room(memberCount))].arrivals.append(moment.nanoseconds)
            guard let flight = state.flights[number], flight.arrivals.count == memberCount, let began = flight.began
            else { return }
            state.flights[number] = nil
            state.lastMs = Double((flight.arrivals.last ?? 0) - began.nanoseconds) / 1e6
            guard number > 0 else { return }
            state.completeCount += 1
            state.latencies.add(began, flight.arrivals)
        }
    }

    private static func room(_ count: Int) -> [Int64] {
        var arrivals: [Int64] = []
        arrivals.reserveCapacity(count)
        return arrivals
    }

    /// Measured messages that all members have.
    var completeCount: Int { state.withLock(\.completeCount) }

    var latencies: FanoutLatencies { state.withLock { $0.latencies } }

    /// The duration of the last complete fan-out.
    var lastMs: Double? { state.withLock(\.lastMs) }
}

/// Per message: when the last member had it, and when half of them had it; and over all members and messages.
struct FanoutLatencies: Sendable {
    private(set) var last = Latencies()
    private(set) var middle = Latencies()
    private(set) var all = Latencies()

    /// - Parameter arrivals: times on the clock, per member.
    fileprivate mutating func add(_ began: MonotonicTime, _ arrivals: [Int64]) {
        let times = arrivals.map { $0 - began.nanoseconds }.sorted()
        guard let longest = times.last else { return }
        last.record(nanoseconds: longest)
        middle.record(nanoseconds: times[times.count / 2])
        for time in times { all.record(nanoseconds: time) }
    }
}
