// One polling device: a chain of cursors that survives the failure of a node.
import Basics

/// Receives a device's events, on the loop's thread.
package protocol PollObserver: AnyObject {
    func poller(_ poller: PolledDevice, saw message: SeenMessage)
    /// Called after the answer's messages, if any. `isWaiting` still has the value of the poll that ended.
    func poller(_ poller: PolledDevice, received outcome: PollOutcome)
    /// Called when a poll is sent.
    func pollerAsked(_ poller: PolledDevice)
}

/// How a poll ended.
package enum PollOutcome: Equatable {
    case events(Int)
    /// The wait timed out. `closing`: the node is shutting down.
    case nothing(closing: Bool)
    /// 410: part of the log is gone. The device continues from the cursor in the answer.
    case expired
    /// Any other status.
    case refused(Int)
    case failed(ConnectionFailure)

    /// The fault, as a phrase; nil for outcomes that are part of polling.
    var fault: String? {
        switch self {
        case .events, .nothing: nil
        case .expired: "a cursor has expired"
        case .refused(let status): "a poll received status \(status)"
        case .failed(let failure): "a poll failed: \(failure)"
        }
    }
}

/// Polls one chain of cursors, at the next node when one fails.
package final class PolledDevice: ConnectionOwner {
    package struct Settings: Sendable {
        /// Seconds.
        package var wait = 55
        package var limit = 100
        /// Shortens the first wait by a random time, so that polls that began together do not end together. Waits that
        /// events end do not count: at the start every device receives the others' presence.
        package var spreadsFirstWait = false
        /// Seconds after which a poll without an answer is given up; longer than a node may take.
        package var answerMaxS = 70.0
        /// Waits between retries after failures.
        package var backoff = Backoff()

        package init() {}
    }

    /// Its number in the swarm.
    package let index: Int
    package private(set) var cursor: [UInt8]
    package private(set) var deliveries = Deliveries()
    /// A poll that may wait is under way.
    package private(set) var isWaiting = false
    /// An answer was received. Until then polls do not wait.
    package private(set) var isGreeted = false

    private let loop: EventLoop
    private let endpoints: [Endpoint]
    private let settings: Settings
    private let credentials: [UInt8]
    private unowned let observer: any PollObserver
    private lazy var connection = Connection(loop, endpoints[index % endpoints.count], owner: self)
    private var endpointIndex: Int
    private var backoff: Backoff
    private var isStopped = false
    private var askedAt = MonotonicTime.now
    /// The wait of the next poll that may wait.
    private var nextWait: Int

    /// - Parameter cursor: nil for the current position.
    package init(
        _ loop: EventLoop, index: Int, endpoints: [Endpoint], token: String, cursor: String? = nil,
        settings: Settings, observer: any PollObserver
    ) {
        self.loop = loop
        self.index = index
        self.endpoints = endpoints
        self.cursor = Array((cursor ?? "").utf8)
        self.settings = settings
        self.observer = observer
        endpointIndex = index
        backoff = settings.backoff
        nextWait = settings.spreadsFirstWait ? Int.random(in: 1...max(1, settings.wait)) : settings.wait
        credentials = Array("\r\nAuthorization: Bearer \(token)\r\n\r\n".utf8)
    }

    package func expect(_ thread: ThreadKey, after seq: Int64) { deliveries.expect(thread, after: seq) }

    package func start() { poll() }

    package func stop() {
        isStopped = true
        isWaiting = false
        connection.close()
    }

    /// How often the connection was reopened.
    package var reconnectCount: Int { max(0, connection.openedCount - 1) }

    /// Gives up a poll that has had no answer for too long.
    package func giveUpLatePoll(_ now: MonotonicTime) {
        guard connection.isAwaiting, now > askedAt + settings.answerMaxS else { return }
        connection.close()
        self.connection(connection, failed: .closed)
    }

    private func poll() {
        guard !isStopped, !connection.isAwaiting else { return }
        askedAt = .now
        isWaiting = isGreeted
        let wait = isGreeted ? nextWait : 0
        // All devices write to the same space: the connection sends or copies the request before the next one.
        var request = RequestWriter(loop.requestSpace)
        request.write("GET /v1/sync?")
        if !cursor.isEmpty {
            request.write("cursor=")
            request.write(cursor)
            request.write("&")
        }
        request.write("wait=")
        request.write(wait)
        request.write("&limit=")
        request.write(settings.limit)
        request.write(" HTTP/1.1\r\nHost: ")
        request.write(connection.endpoint.authorityBytes)
        request.write(credentials)
        observer.pollerAsked(self)
        connection.send(request.written)
    }

    package func connection(_ connection: Connection, received answer: Answer) {
        switch answer.status {
        case 200:
            do {
                let sync = try SyncAnswer.read(answer.body) { message in
                    deliveries.take(message)
                    observer.poller(self, saw: message)
                }
                cursor.replaceSubrange(0..<cursor.count, with: sync.cursor)
                isGreeted = isGreeted || !sync.more
                if isWaiting, sync.eventCount == 0 { nextWait = settings.wait }
                backoff.reset()
                end(sync.eventCount > 0 ? .events(sync.eventCount) : .nothing(closing: answer.closes))
                if answer.closes { moveOn() }
                poll()
            } catch {
                self.connection(connection, failed: .notHTTP(error))
            }
        case 410:
            if let fresh = Self.freshCursor(answer.body) { cursor = fresh }
            end(.expired)
            retry(atLeast: 0)
        default:
            end(.refused(answer.status))
            retry(atLeast: answer.header("retry-after").flatMap { Int($0) }.map { Double(min($0, 60)) } ?? 0)
        }
    }

    package func connection(_ connection: Connection, failed failure: ConnectionFailure) {
        end(.failed(failure))
        retry(atLeast: 0)
    }

    private func end(_ outcome: PollOutcome) {
        observer.poller(self, received: outcome)
        isWaiting = false
    }

    /// Polls again after a while, at the next node.
    private func retry(atLeast least: Double) {
        let delay = backoff.next(random: .random(in: 0..<1)) / Duration.seconds(1)
        moveOn()
        loop.schedule(at: .now + least + delay) { [weak self] in
            self?.poll()
        }
    }

    /// Moves to the next node, if there is one.
    private func moveOn() {
        endpointIndex += 1
        guard endpoints.count > 1 else { return }
        connection.close()
        connection.endpoint = endpoints[endpointIndex % endpoints.count]
    }

    private static func freshCursor(_ body: UnsafeRawBufferPointer) -> [UInt8]? {
        var walker = JSONWalker(body)
        do {
            try walker.enterObject()
            while let key = try walker.key() {
                if key.equals("cursor") { return Array(try walker.string()) }
                try walker.skip()
            }
        } catch {
            // The answer names no cursor. The device polls again with its own and gets 410 again, which is counted.
        }
        return nil
    }
}
