// The thread that moves all transfers. All calls of libcurl except the wake-up happen here.
import CLibcurl
import Glibc

/// Each step begins new transfers, lets libcurl move all of them, reports those that have ended, and waits.
struct OutboundLoop {
    private typealias Start = TransferQueue<Outbound.Job>.Start

    /// The wait without work. New work ends it.
    private static let waitMax = Duration.seconds(3_600)
    private static let niceness: Int32 = 10
    private static let keptConnectionCountMax = 64

    private let shared: OutboundShared
    private let multi: UnsafeMutableRawPointer
    private let settings: ClientSettings
    private let connections = OpenConnections()
    private var exchanges: [UnsafeMutableRawPointer: (exchange: Exchange, job: Outbound.Job)] = [:]
    /// Idle HTTP handles, by whether they are guarded: the options of one kind are wrong for the other.
    private var idleHandles: [Bool: [UnsafeMutableRawPointer]] = [:]
    private var gate = OriginGate<Start>()
    /// Transfers to begin now.
    private var ready: [Start] = []

    init(_ shared: OutboundShared, _ multi: MultiHandle, _ settings: ClientSettings) {
        self.shared = shared
        self.multi = multi.pointer
        self.settings = settings
        let hostMax = settings.connectionsPerHostMax
        if let hostMax { _ = parley_curl_set_multi_number(multi.pointer, CURLMOPT_MAX_HOST_CONNECTIONS, hostMax) }
        _ = parley_curl_set_multi_number(multi.pointer, CURLMOPT_MAXCONNECTS, Self.keptConnectionCountMax)
        // The server decides how many streams a connection has.
        _ = parley_curl_set_multi_number(
            multi.pointer, CURLMOPT_MAX_CONCURRENT_STREAMS, max(100, settings.inFlightMax))
    }

    /// Runs until the client is closed.
    mutating func run() {
        // Answers to clients are more urgent than outgoing requests, so this thread has a lower priority on a busy
        // processor.
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
        while true {
            let (turn, deadline, attended) = shared.state.withLock { state in
                state.needsWaking = true
                defer { state.attended = [] }
                return (state.queue.step(now: .now), state.queue.nextDeadline, state.attended)
            }
            for (job, failure) in turn.failures { job.done(.failure(failure)) }
            if turn.isLast { break }
            admit(turn.starts)
            beginReady()
            for stream in attended { attend(stream) }
            // A transfer that has ended makes room for the next.
            let someEnded = move()
            if !expire(), !someEnded { wait(until: deadline) }
        }
        end()
    }

    /// Decides which new transfers begin at once, and adds those that were held long enough.
    private mutating func admit(_ starts: [Start]) {
        let now = ContinuousClock.now
        for start in starts {
            guard case .http(let exchange) = start.job.transfer.work, !exchange.opensAtOnce else {
                ready.append(start)
                continue
            }
            let isOpen = connections.isOpen(to: exchange.origin)
            if gate.admit(start, to: exchange.origin, isOpen: isOpen, now: now) { ready.append(start) }
        }
        ready += gate.takeOverdue(now: now)
    }

    /// A transfer that can't begin may make room for more.
    private mutating func beginReady() {
        while !ready.isEmpty {
            let starts = ready
            ready = []
            for start in starts { begin(start) }
        }
    }

    private mutating func begin(_ start: Start) {
        let job = start.job
        if case .stream(_, let stream) = job.transfer.work, stream.isCancelled { return finish(.failure(.closed), job) }
        let idle = job.transfer.isGuarded(by: settings).flatMap { idleHandles[$0]?.popLast() }
        guard let easy = idle ?? curl_easy_init() else {
            return finish(.failure(.failed(reason: "no memory for a transfer")), job)
        }
        let exchange = Exchange(
            easy, isNew: idle == nil, job.transfer, deadline: start.deadline, settings: settings,
            connections: connections)
        guard exchange.isReady, curl_multi_add_handle(multi, easy) == CURLM_OK else {
            curl_easy_cleanup(easy)
            return finish(.failure(.failed(reason: "libcurl refused the transfer")), job)
        }
        exchanges[easy] = (exchange, job)
    }

    /// Continues a stream that was paused, or ends one that was cancelled. One that has ended is ignored.
    private mutating func attend(_ stream: TransferStream) {
        guard let (easy, entry) = exchanges.first(where: { $0.value.exchange.http?.stream === stream }) else { return }
        guard stream.isCancelled else { return entry.exchange.resume() }
        exchanges[easy] = nil
        curl_multi_remove_handle(multi, easy)
        recycle(entry.exchange)
        finish(.failure(.closed), entry.job)
    }

    /// Lets libcurl move what it can, and reports the transfers that have ended. Returns whether there were any.
    private mutating func move() -> Bool {
        let count = exchanges.count
        var runningCount: Int32 = 0
        // In every step, not only when several begin: bodies leave in later steps, too.
        connections.together { curl_multi_perform(multi, &runningCount) }
        var leftCount: Int32 = 0
        while let message = curl_multi_info_read(multi, &leftCount) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
                let (exchange, job) = exchanges.removeValue(forKey: easy)
            else { continue }
            let code = parley_curl_result(message)
            let result = exchange.result(code)
            if let port = exchange.http?.localPort, exchange.hasReceived { connections.received(port: port, at: .now) }
            curl_multi_remove_handle(multi, easy)
            recycle(exchange)
            finish(result, job)
        }
        return exchanges.count < count
    }

    /// Ends HTTP transfers that are past their deadline, or have their answer and don't end by themselves. Returns
    /// whether there were any. A connection that has received nothing since such a transfer began is closed with it.
    private mutating func expire() -> Bool {
        let now = ContinuousClock.now
        guard exchanges.values.contains(where: { $0.exchange.http != nil && $0.exchange.deadline <= now }) else {
            return false
        }
        for (easy, (exchange, job)) in exchanges where exchange.deadline <= now {
            guard let http = exchange.http else { continue }
            exchanges[easy] = nil
            let answer = exchange.sufficientAnswer
            curl_multi_remove_handle(multi, easy)
            if let port = http.localPort {
                if answer != nil { connections.received(port: port, at: now) }
                connections.close(port: port, ifSilentSince: http.began)
            }
            recycle(exchange)
            finish(answer.map { .success($0) } ?? .failure(.timedOut), job)
        }
        return true
    }

    private mutating func finish(_ result: Result<TransferAnswer, TransferFailure>, _ job: Outbound.Job) {
        shared.state.withLock { $0.queue.finished() }
        if case .http(let exchange) = job.transfer.work, !exchange.opensAtOnce {
            let hasAnswered = if case .success = result { true } else { false }
            ready += gate.ended(
                at: exchange.origin, hasAnswered: hasAnswered, isOpen: connections.isOpen(to: exchange.origin),
                now: .now)
        }
        job.done(result)
    }

    private mutating func recycle(_ exchange: Exchange) {
        // A streamed exchange sets options that the next one would have to undo.
        guard let http = exchange.http, http.stream == nil,
            idleHandles[http.isGuarded, default: []].count < settings.inFlightMax
        else { return curl_easy_cleanup(exchange.easy) }
        idleHandles[http.isGuarded, default: []].append(exchange.easy)
    }

    private func wait(until deadline: ContinuousClock.Instant?) {
        let first = exchanges.values.lazy.map(\.exchange.deadline).min()
        let next = [first, deadline, gate.nextDeadline].compactMap(\.self).min()
        let time = min(Self.waitMax, max(.zero, next.map { $0 - .now } ?? Self.waitMax))
        // Rounded up, so that the deadline has passed on waking.
        let polled = curl_multi_poll(multi, nil, 0, Int32(time / .milliseconds(1)) + 1, nil)
        // Without any wait the loop would use a whole processor.
        if polled != CURLM_OK { usleep(10_000) }
    }

    /// Cancels what is under way. The kept connections are closed last, when no caller waits: closing sends QUIT to
    /// relays, which may take their time to answer.
    private mutating func end() {
        shared.state.withLock { $0.multi = nil }
        for start in ready + gate.takeAll() { start.job.done(.failure(.closed)) }
        for (easy, (exchange, job)) in exchanges where exchange.http != nil {
            exchanges[easy] = nil
            curl_multi_remove_handle(multi, easy)
            curl_easy_cleanup(easy)
            job.done(.failure(.closed))
        }
        for (exchange, _) in exchanges.values { exchange.giveUp() }
        _ = move()
        for easy in idleHandles.values.joined() { curl_easy_cleanup(easy) }
        guard exchanges.isEmpty else {
            // Freeing a handle in the middle of a transfer is unsafe, so these are leaked.
            for (exchange, job) in exchanges.values {
                _ = Unmanaged.passRetained(exchange)
                job.done(.failure(.closed))
            }
            return
        }
        // curl_multi_cleanup calls `connections` for each socket that it closes.
        withExtendedLifetime(connections) { _ = curl_multi_cleanup(multi) }
    }
}
