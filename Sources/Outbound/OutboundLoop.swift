// The thread that moves all transfers. Every libcurl call but the wake-up happens here.
import CLibcurl
import Foundation

/// One turn: take what was asked for, let libcurl move everything, tell who is through, wait.
struct OutboundLoop {
    /// Without anything to do. Anything new wakes it.
    private static let waitMax = Duration.seconds(3_600)
    private static let idleHandleCountMax = 64
    private static let keptConnectionCountMax = 64

    private let shared: OutboundShared
    private let multi: UnsafeMutableRawPointer
    private let settings: ClientSettings
    private let connections = OpenConnections()
    private var exchanges: [UnsafeMutableRawPointer: (exchange: Exchange, done: Outbound.Done)] = [:]
    private var idleHandles: [UnsafeMutableRawPointer] = []

    init(_ shared: OutboundShared, _ multi: MultiHandle, _ settings: ClientSettings) {
        self.shared = shared
        self.multi = multi.pointer
        self.settings = settings
        let hostMax = settings.connectionsPerHostMax
        if let hostMax { _ = parley_curl_set_multi_number(multi.pointer, CURLMOPT_MAX_HOST_CONNECTIONS, hostMax) }
        _ = parley_curl_set_multi_number(multi.pointer, CURLMOPT_MAXCONNECTS, Self.keptConnectionCountMax)
    }

    /// Runs until it is told to end.
    mutating func run() {
        blockSignals()
        while true {
            let (turn, deadline) = shared.state.withLock { state in
                state.needsWaking = true
                return (state.queue.step(now: .now), state.queue.nextDeadline)
            }
            for (job, failure) in turn.failures { job.done(.failure(failure)) }
            if turn.isLast { break }
            for start in turn.starts { begin(start) }
            // Whoever is through leaves room for the next.
            let areSomeThrough = move()
            if !expire(), !areSomeThrough { wait(until: deadline) }
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
        let exchange = Exchange(
            easy, job.transfer, deadline: start.deadline, settings: settings, connections: connections)
        guard exchange.isReady, curl_multi_add_handle(multi, easy) == CURLM_OK else {
            recycle(easy)
            return finish(.failure(.failed(reason: "libcurl doesn't take the transfer")), job.done)
        }
        exchanges[easy] = (exchange, job.done)
    }

    /// Lets libcurl move what it can, and tells those who are through; whether there were any.
    private mutating func move() -> Bool {
        let count = exchanges.count
        var runningCount: Int32 = 0
        curl_multi_perform(multi, &runningCount)
        var leftCount: Int32 = 0
        while let message = curl_multi_info_read(multi, &leftCount) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
                let (exchange, done) = exchanges.removeValue(forKey: easy)
            else { continue }
            let code = parley_curl_result(message)
            let result = exchange.result(code)
            if let port = exchange.http?.localPort, exchange.hasHeard { connections.heard(port: port, at: .now) }
            curl_multi_remove_handle(multi, easy)
            recycle(easy)
            finish(result, done)
        }
        return exchanges.count < count
    }

    /// Ends HTTP's transfers that are too late, whether there were any. A connection that has answered nothing since such a
    /// one began is ended with it.
    private mutating func expire() -> Bool {
        let now = ContinuousClock.now
        guard exchanges.values.contains(where: { $0.exchange.http != nil && $0.exchange.deadline <= now }) else {
            return false
        }
        for (easy, (exchange, done)) in exchanges where exchange.deadline <= now {
            guard let http = exchange.http else { continue }
            exchanges[easy] = nil
            curl_multi_remove_handle(multi, easy)
            if let port = http.localPort { connections.cut(port: port, ifDumbSince: http.began) }
            recycle(easy)
            finish(.failure(.timedOut), done)
        }
        return true
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
        let first = exchanges.values.lazy.map(\.exchange.deadline).min()
        let next = [first, deadline].compactMap(\.self).min()
        let time = min(Self.waitMax, max(.zero, next.map { $0 - .now } ?? Self.waitMax))
        // Rounded up, so that the deadline has passed on waking.
        let polled = curl_multi_poll(multi, nil, 0, Int32(time / .milliseconds(1)) + 1, nil)
        // Without a wait it would be turned round and round.
        if polled != CURLM_OK { Thread.sleep(forTimeInterval: 0.01) }
    }

    /// Gives up what is under way. The connections that were kept are closed last, when nobody waits any more: relays are
    /// told goodbye, and may take their time to answer.
    private mutating func end() {
        shared.state.withLock { $0.multi = nil }
        for (easy, (exchange, done)) in exchanges where exchange.http != nil {
            exchanges[easy] = nil
            curl_multi_remove_handle(multi, easy)
            curl_easy_cleanup(easy)
            done(.failure(.closed))
        }
        for (exchange, _) in exchanges.values { exchange.giveUp() }
        _ = move()
        for easy in idleHandles { curl_easy_cleanup(easy) }
        guard exchanges.isEmpty else {
            // Freed in the middle of something they would do harm, and there is nothing that they cost any more.
            for (exchange, done) in exchanges.values {
                _ = Unmanaged.passRetained(exchange)
                done(.failure(.closed))
            }
            return
        }
        // It tells them of each socket that it closes.
        withExtendedLifetime(connections) { _ = curl_multi_cleanup(multi) }
    }
}
