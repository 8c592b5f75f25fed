// The thread that moves all transfers. Every libcurl call but the wake-up happens here.
import CLibcurl
import Foundation

/// One turn: take what was asked for, let libcurl move everything, tell who is through, wait.
struct OutboundLoop {
    /// Without anything to do. Anything new wakes it.
    private static let waitMax = Duration.seconds(3_600)
    private static let idleHandleCountMax = 16

    private let shared: OutboundShared
    private let multi: UnsafeMutableRawPointer
    private let caFile: String?
    private var exchanges: [UnsafeMutableRawPointer: (exchange: Exchange, done: Outbound.Done)] = [:]
    private var idleHandles: [UnsafeMutableRawPointer] = []

    init(_ shared: OutboundShared, _ multi: MultiHandle, caFile: String?) {
        self.shared = shared
        self.multi = multi.pointer
        self.caFile = caFile
    }

    /// Runs until it is told to end.
    mutating func run() {
        blockSignals()
        while true {
            let (turn, deadline) = shared.state.withLock { state in
                (state.queue.step(now: .now), state.queue.nextDeadline)
            }
            for (job, failure) in turn.failures { job.done(.failure(failure)) }
            if turn.isLast { break }
            for start in turn.starts { begin(start) }
            var runningCount: Int32 = 0
            curl_multi_perform(multi, &runningCount)
            // Whoever is through leaves room for the next.
            if !collect() { wait(until: deadline) }
        }
        end()
    }

    /// OpenSSL may write to a connection that is gone: with SIGPIPE blocked that is an error and no more.
    private func blockSignals() {
        var signals = sigset_t()
        sigfillset(&signals)
        // These are the thread's own faults; blocked, they would end the process without a word.
        for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT] { sigdelset(&signals, fault) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    private mutating func begin(_ start: TransferQueue<OutboundShared.Job>.Start) {
        let job = start.job
        guard let easy = idleHandles.popLast() ?? curl_easy_init() else {
            return finish(.failure(.failed(reason: "no memory for a transfer")), job.done)
        }
        let exchange = Exchange(easy, job.transfer, timeMax: start.deadline - .now, caFile: caFile)
        guard exchange.isReady, curl_multi_add_handle(multi, easy) == CURLM_OK else {
            recycle(easy)
            return finish(.failure(.failed(reason: "libcurl doesn't take the transfer")), job.done)
        }
        exchanges[easy] = (exchange, job.done)
    }

    /// Tells those who are through; whether there were any.
    private mutating func collect() -> Bool {
        var isAny = false
        var leftCount: Int32 = 0
        while let message = curl_multi_info_read(multi, &leftCount) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
                let (exchange, done) = exchanges.removeValue(forKey: easy)
            else { continue }
            let result = exchange.result(parley_curl_result(message))
            curl_multi_remove_handle(multi, easy)
            recycle(easy)
            finish(result, done)
            isAny = true
        }
        return isAny
    }

    private func finish(_ result: Result<TransferAnswer, TransferFailure>, _ done: Outbound.Done) {
        shared.state.withLock { $0.queue.finished() }
        done(result)
    }

    private mutating func recycle(_ easy: UnsafeMutableRawPointer) {
        guard idleHandles.count < Self.idleHandleCountMax else { return curl_easy_cleanup(easy) }
        curl_easy_reset(easy)
        idleHandles.append(easy)
    }

    private func wait(until deadline: ContinuousClock.Instant?) {
        let time = min(Self.waitMax, max(.zero, deadline.map { $0 - .now } ?? Self.waitMax))
        // Rounded up, so that the deadline has passed on waking.
        let polled = curl_multi_poll(multi, nil, 0, Int32(time / .milliseconds(1)) + 1, nil)
        // Without a wait it would be turned round and round.
        if polled != CURLM_OK { Thread.sleep(forTimeInterval: 0.01) }
    }

    /// Gives up what is under way. The connections that were kept are closed last, when nobody waits any more: relays are
    /// told goodbye, and may take their time to answer.
    private mutating func end() {
        shared.state.withLock { $0.multi = nil }
        for (easy, (_, done)) in exchanges {
            curl_multi_remove_handle(multi, easy)
            curl_easy_cleanup(easy)
            done(.failure(.closed))
        }
        exchanges = [:]
        for easy in idleHandles { curl_easy_cleanup(easy) }
        curl_multi_cleanup(multi)
    }
}
