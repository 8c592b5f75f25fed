// The waiting members of a room on one event loop, and on the first loop the sender as well. The same for Parley and
// nchan, which differ in how they poll and publish.
import Linux

/// The server whose fan-out is measured.
enum FanoutTarget: Sendable {
    case parley(ParleyRoom)
    case nchan(Endpoint, channel: String)
}

struct ParleyRoom: Sendable {
    let endpoints: [Endpoint]
    let id: String
    let key: ThreadKey
    let sender: Account
    let members: [Account]
    /// The seq of the last message so far.
    let head: Int64
}

/// The plan of a round.
struct FanoutPlan: Sendable {
    let memberCount: Int
    /// The number includes the message that warms up.
    let messageCount: Int
    let perSecond: Int
    let text: String
    let loopCount: Int
}

struct FanoutOutcome: Sendable {
    var faults = Faults()
    var verdict = Verdict()
}

final class FanoutLoop: PollObserver {
    private let loop: EventLoop
    private let number: Int
    private let target: FanoutTarget
    private let plan: FanoutPlan
    private let control: LoopControl
    private let recorder: FanoutRecorder
    private var pollers: [PolledDevice] = []
    private var subscribers: [NchanSubscriber] = []
    private var publisher: Publisher?
    private var faults = Faults()

    init(
        _ loop: EventLoop, number: Int, _ target: FanoutTarget, _ plan: FanoutPlan, _ control: LoopControl,
        _ recorder: FanoutRecorder
    ) {
        self.loop = loop
        self.number = number
        self.target = target
        self.plan = plan
        self.control = control
        self.recorder = recorder
    }

    func run() -> FanoutOutcome {
        switch target {
        case .parley(let room): makePollers(room)
        case .nchan(let endpoint, let channel): makeSubscribers(endpoint, channel)
        }
        loop.whenWoken { [unowned self] in
            if control.isStopped { return loop.stop() }
            if control.isGoing, number == 0, publisher == nil { publish() }
        }
        loop.run()
        for poller in pollers { poller.stop() }
        for subscriber in subscribers {
            subscriber.stop()
            faults.add(subscriber.faults)
        }
        if let publisher {
            publisher.stop()
            faults.add(publisher.faults)
        }
        var outcome = FanoutOutcome(faults: faults)
        if case .parley(let room) = target {
            let heads = [room.key: room.head + Int64(plan.messageCount)]
            for poller in pollers { outcome.verdict += poller.deliveries.verdict(heads: heads) }
        }
        return outcome
    }

    /// This loop's share of a count.
    private var share: [Int] { Array(stride(from: number, to: plan.memberCount, by: plan.loopCount)) }

    private func makePollers(_ room: ParleyRoom) {
        for index in share {
            let poller = PolledDevice(
                loop, index: index, endpoints: room.endpoints, token: room.members[index].token, settings: .init(),
                observer: self)
            poller.expect(room.key, after: room.head)
            pollers.append(poller)
            start(pollers.count) { poller.start() }
        }
    }

    private func makeSubscribers(_ endpoint: Endpoint, _ channel: String) {
        for _ in share {
            let subscriber = NchanSubscriber(loop, endpoint, channel: channel) { [unowned self] answer in
                // Reads it as a poll's answer is read, so that both clients do the same work.
                _ = try SyncAnswer.read(answer.body) { recorder.arrived(Int($0.seq), at: .now) }
            }
            subscribers.append(subscriber)
            start(subscribers.count) { subscriber.poll() }
        }
    }

    /// Two hundred in ten milliseconds: a server's backlog of connections is short.
    private func start(_ count: Int, _ work: @escaping () -> Void) {
        loop.schedule(at: .now + Double(count / 200) * 0.01, work)
    }

    private func publish() {
        let recorder = recorder
        let publisher: Publisher
        switch target {
        case .parley(let room):
            let request = sendRequest(plan.text, to: room.id, at: room.endpoints[0], token: room.sender.token)
            publisher = Publisher(
                loop, room.endpoints[0], count: plan.messageCount, perSecond: plan.perSecond, request: { _ in request },
                began: { recorder.began($0, at: $1) },
                answered: { try $1.checkSent(as: room.head + 1 + Int64($0)) })
        case .nchan(let endpoint, let channel):
            let text = plan.text
            publisher = Publisher(
                loop, endpoint, count: plan.messageCount, perSecond: plan.perSecond,
                request: { number in
                    requestBytes(
                        "POST", NchanServer.publishing + channel, at: endpoint,
                        body: FanoutPlan.answerBody(number: number, text: text))
                },
                began: { recorder.began($0, at: $1) },
                answered: { _, answer in
                    guard answer.status == 201 || answer.status == 202 else {
                        throw BadResponse(description: "nchan returned to the publisher: \(answer.status)")
                    }
                })
        }
        self.publisher = publisher
        publisher.start()
    }

    // MARK: PollObserver

    func poller(_ poller: PolledDevice, saw message: SeenMessage) {
        let moment = MonotonicTime.now
        guard case .parley(let room) = target, message.thread == room.key else { return }
        recorder.arrived(Int(message.seq - room.head - 1), at: moment)
    }

    func poller(_ poller: PolledDevice, received outcome: PollOutcome) {
        if let fault = outcome.fault { faults.record(fault) }
    }

    func pollerAsked(_ poller: PolledDevice) {}
}

extension FanoutPlan {
    /// Parley's answer to a poll with such a message, so that nchan carries as many bytes.
    static func answerBody(number: Int, text: String) -> String {
        let id = "0197a000-0000-7000-8000-000000000000"
        return """
            {"events":[{"type":"message.created","thread_id":"\(id)","at":"2026-11-21T10:00:00.123Z",\
            "data":{"id":"\(id)","thread_id":"\(id)","seq":\(number),"timestamp":"2026-11-21T10:00:00.123Z",\
            "type":"message","sender":{"id":"\(id)","name":"bench0x0123456789abc","profile_image":null},\
            "payload":{"text":"\(text)"},"reply_to":null,"mentions":[],"reactions":{},\
            "edited_at":null,"deleted_at":null,"expires_at":null}}],\
            "cursor":"0123456789abcdef01234567","more":false}
            """
    }
}
