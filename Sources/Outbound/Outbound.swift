// The client as callers see it. The decisions are in TransferQueue, the thread is OutboundLoop's, options are Exchange's.
import CLibcurl
import Foundation
import Linux
import Synchronization

/// Talks to servers elsewhere through libcurl: one thread, one multi handle, connections kept for the next transfer.
///
/// Closing a kept connection to a mail relay says goodbye and waits for an answer, for ten seconds at most, and nothing
/// else moves meanwhile: what must not wait for that gets a client of its own.
package final class Outbound: Sendable {
    /// A transfer, and who is told of its end: once, on the thread that moves all transfers, so that it must not block.
    package struct Job: Sendable {
        let transfer: Transfer
        let done: @Sendable (Result<TransferAnswer, TransferFailure>) -> Void

        package init(
            _ transfer: Transfer, done: @escaping @Sendable (Result<TransferAnswer, TransferFailure>) -> Void
        ) {
            self.transfer = transfer
            self.done = done
        }
    }

    private let shared: OutboundShared

    /// Opens nothing before the first transfer.
    ///
    /// - Parameters:
    ///   - caFile: certificates (PEM) trusted besides the system's directory of them.
    ///   - allowPrivate: lets URLs that somebody gave us lead into private networks, and in clear. For tests.
    ///   - connectionsPerHostMax: more transfers to a host than its connections carry wait for one. Nil: as many as needed.
    ///   - inFlightMax: transfers at once; the others wait for their turn.
    ///   - waitingCountMax: more are refused.
    /// - Throws: `TransferFailure.failed` when there is no handle to be had.
    package init(
        caFile: String? = nil, allowPrivate: Bool = false, connectionsPerHostMax: Int? = nil, inFlightMax: Int = 64,
        waitingCountMax: Int = 1_024
    ) throws(TransferFailure) {
        guard Self.isLibraryReady, let pointer = curl_multi_init() else {
            throw .failed(reason: "libcurl can't be used")
        }
        let multi = MultiHandle(pointer: pointer)
        let queue = TransferQueue<Outbound.Job>(inFlightMax: inFlightMax, waitingCountMax: waitingCountMax)
        let shared = OutboundShared(queue: queue, multi: multi)
        self.shared = shared
        let settings = ClientSettings(
            caFile: caFile, allowPrivate: allowPrivate, connectionsPerHostMax: connectionsPerHostMax,
            inFlightMax: inFlightMax)
        do {
            try startThread("outbound") {
                var loop = OutboundLoop(shared, multi, settings)
                loop.run()
            }
        } catch {
            throw .failed(reason: "cannot start a thread: \(error)")
        }
    }

    deinit { shared.close(deadline: .now) }

    /// `curl_global_init`, once in the process and before anything else of libcurl.
    private static let isLibraryReady = curl_global_init(parley_curl_global) == CURLE_OK

    /// Begins transfers, together: what goes to one server by one connection leaves in few packets.
    package func begin(_ jobs: [Job]) {
        let now = ContinuousClock.now
        let starts = jobs.map { TransferQueue.Start(job: $0, deadline: now + $0.transfer.timeMax) }
        for (job, failure) in shared.submit(starts) { job.done(.failure(failure)) }
    }

    /// The same for a task. A transfer that was begun runs to its end, whatever becomes of its caller: a server that has
    /// taken it can't be asked to forget it.
    package func perform(_ transfer: Transfer) async throws(TransferFailure) -> TransferAnswer {
        let result = await withCheckedContinuation { continuation in
            begin([Job(transfer) { continuation.resume(returning: $0) }])
        }
        return try result.get()
    }

    /// Takes nothing more from now on, and fails what waits. What is under way may end, for so long.
    package func close(within time: Duration) { shared.close(deadline: .now + time) }
}

/// What holds for all transfers of a client.
struct ClientSettings: Sendable {
    var caFile: String?
    var allowPrivate: Bool
    var connectionsPerHostMax: Int?
    var inFlightMax: Int
}

/// What callers and the thread share. Taken for short decisions only; callers are told after the lock.
final class OutboundShared: Sendable {
    struct State: Sendable {
        var queue: TransferQueue<Outbound.Job>
        /// Nil once the thread has done with it.
        var multi: MultiHandle?
        /// Set when the thread looks at the queue: what comes after that has to wake it, once.
        var needsWaking = true

        mutating func wake() {
            guard needsWaking else { return }
            needsWaking = false
            multi?.wake()
        }
    }

    let state: Mutex<State>

    init(queue: TransferQueue<Outbound.Job>, multi: MultiHandle) { state = Mutex(State(queue: queue, multi: multi)) }

    /// Gives those that weren't taken in.
    func submit(_ starts: [TransferQueue<Outbound.Job>.Start]) -> [TransferQueue<Outbound.Job>.Failure] {
        state.withLock { state in
            let failures = starts.compactMap { state.queue.submit($0) }
            if failures.count < starts.count { state.wake() }
            return failures
        }
    }

    func close(deadline: ContinuousClock.Instant) {
        state.withLock { state in
            state.queue.close(deadline: deadline)
            state.wake()
        }
    }
}

/// libcurl's multi handle.
// SAFETY: the thread of `OutboundLoop` alone uses it, except for `curl_multi_wakeup`, which any thread may call as long as
// the handle lives: that is called under the lock that the thread takes to put the handle out of reach before freeing it.
struct MultiHandle: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer

    /// Ends the thread's wait, or its next one. A few microseconds.
    func wake() { _ = curl_multi_wakeup(pointer) }
}
