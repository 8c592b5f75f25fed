// The client that callers use. TransferQueue has the decisions, OutboundLoop the thread, Exchange libcurl's options.
import CLibcurl
import Glibc
import Linux
import Synchronization

/// Sends requests and mails to other servers through libcurl: one thread, one multi handle, connections kept for the
/// next transfer.
///
/// Closing a kept connection to a mail relay sends QUIT and waits up to ten seconds for an answer. Meanwhile nothing
/// else moves. So transfers that must not wait for mail need a client of their own.
package final class Outbound: Sendable {
    /// A transfer and its callback. The callback is called once: within `begin` if the transfer is refused, otherwise
    /// on the thread that moves all transfers. It must not block.
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
    ///   - caFile: certificates (PEM) that are trusted in addition to the system's directory.
    ///   - allowPrivate: whether URLs from clients may lead into private networks, and use plain HTTP. For tests.
    ///   - connectionsPerHostMax: connections to one host. Transfers beyond their capacity wait. Nil: as many as
    ///     needed.
    ///   - inFlightMax: transfers under way at once. The others wait in a queue.
    ///   - waitingCountMax: the queue's length. More transfers are refused.
    /// - Throws: `TransferFailure.failed` if libcurl or the thread can't start.
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

    /// `curl_global_init`, once per process and before any other call of libcurl.
    private static let isLibraryReady = curl_global_init(parley_curl_global) == CURLE_OK

    /// Begins transfers together: requests to one server over one connection leave in few packets.
    package func begin(_ jobs: [Job]) {
        let now = ContinuousClock.now
        let starts = jobs.map { TransferQueue.Start(job: $0, deadline: now + $0.transfer.timeMax) }
        for (job, failure) in shared.submit(starts) { job.done(.failure(failure)) }
    }

    /// Performs one transfer. It runs to its end even if the caller is cancelled: a server can't be asked to forget a
    /// request.
    package func perform(_ transfer: Transfer) async throws(TransferFailure) -> TransferAnswer {
        let result = await withCheckedContinuation { continuation in
            begin([Job(transfer) { continuation.resume(returning: $0) }])
        }
        return try result.get()
    }

    /// Makes the thread look at a stream that continues or was cancelled.
    func attend(_ stream: TransferStream) { shared.attend(stream) }

    /// Accepts no more transfers, and fails the waiting ones. Those under way have this time to end.
    package func close(within time: Duration) { shared.close(deadline: .now + time) }
}

/// The settings of all transfers of a client.
struct ClientSettings: Sendable {
    var caFile: String?
    var allowPrivate: Bool
    var connectionsPerHostMax: Int?
    var inFlightMax: Int
}

/// The state that callers and the thread share. The lock is held for short decisions only; callbacks run after it.
final class OutboundShared: Sendable {
    struct State: Sendable {
        var queue: TransferQueue<Outbound.Job>
        /// It is nil once the thread no longer uses it.
        var multi: MultiHandle?
        /// Set when the thread reads the queue. The next change must wake the thread, once.
        var needsWaking = true
        /// Streams to continue or to cancel.
        var attended: [TransferStream] = []

        mutating func wake() {
            guard needsWaking else { return }
            needsWaking = false
            multi?.wake()
        }
    }

    let state: Mutex<State>

    init(queue: TransferQueue<Outbound.Job>, multi: MultiHandle) { state = Mutex(State(queue: queue, multi: multi)) }

    /// Returns the transfers that were refused.
    func submit(_ starts: [TransferQueue<Outbound.Job>.Start]) -> [TransferQueue<Outbound.Job>.Failure] {
        state.withLock { state in
            let failures = starts.compactMap { state.queue.submit($0) }
            if failures.count < starts.count { state.wake() }
            return failures
        }
    }

    func attend(_ stream: TransferStream) {
        state.withLock { state in
            state.attended.append(stream)
            state.wake()
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
// SAFETY: only the thread of `OutboundLoop` uses it, except for `curl_multi_wakeup`, which any thread may call while
// the handle lives. That call is made under the lock, and the thread takes the same lock to remove the handle before it
// frees it.
struct MultiHandle: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer

    /// Ends the thread's wait, or its next one. Costs a few microseconds.
    func wake() { _ = curl_multi_wakeup(pointer) }
}
