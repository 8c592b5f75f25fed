// One sender at an even rate.

/// Sends numbered requests, each when it is due, or as soon as the one before has its answer. The time that a message
/// waits for the one before counts as its own.
final class Publisher: ConnectionOwner {
    /// Builds the request with a number.
    typealias Request = (Int) -> [UInt8]

    private let loop: EventLoop
    private let count: Int
    private let intervalNs: Int64
    private let request: Request
    private let began: (Int, MonotonicTime) -> Void
    private let answered: (Int, Answer) throws -> Void
    private lazy var connection = Connection(loop, endpoint, owner: self)
    private let endpoint: Endpoint
    private var startedAt = MonotonicTime.now
    private var sentCount = 0
    private(set) var faults = Faults()

    /// - Parameters:
    /// - began: called before each request is written.
    /// - answered: called with each answer. An error that it throws is recorded as a fault.
    init(
        _ loop: EventLoop, _ endpoint: Endpoint, count: Int, perSecond rate: Int, request: @escaping Request,
        began: @escaping (Int, MonotonicTime) -> Void, answered: @escaping (Int, Answer) throws -> Void
    ) {
        self.loop = loop
        self.endpoint = endpoint
        self.count = count
        self.request = request
        self.began = began
        self.answered = answered
        intervalNs = 1_000_000_000 / Int64(rate)
    }

    func start() {
        startedAt = .now
        proceed()
    }

    func stop() { connection.close() }

    /// Called when the connection is free: sends what is due, or waits until it is.
    private func proceed() {
        guard sentCount < count else { return }
        let due = MonotonicTime(nanoseconds: startedAt.nanoseconds + Int64(sentCount) * intervalNs)
        guard due > .now else { return send(began: due) }
        loop.schedule(at: due) { [weak self] in self?.send(began: .now) }
    }

    private func send(began moment: MonotonicTime) {
        began(sentCount, moment)
        sentCount += 1
        connection.send(request(sentCount - 1))
    }

    func connection(_ connection: Connection, received answer: Answer) {
        do {
            try answered(sentCount - 1, answer)
        } catch {
            faults.record("\(error)")
        }
        proceed()
    }

    func connection(_ connection: Connection, failed failure: ConnectionFailure) {
        faults.record(failure.description)
        // Not from here: a failure to connect happens within `send`, and many requests would be due at once.
        loop.schedule(at: .now) { [weak self] in self?.proceed() }
    }
}
