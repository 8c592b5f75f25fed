// Delivered marks from cursors: polling with one says that the device has all before it. A poll only notes how far its
// cursor is; here it becomes marks, a thread at a time and seldom, for `DeliveredMarkWorker` to write. What a crash loses of it
// is said again by the next poll: each device that comes to a mailbox is marked in all threads, once.
import Domain

/// How far the members of a thread that poll here have been marked.
struct FeedDeliveries {
    /// For the thread's last message.
    var members: Marks<Mailbox>
    /// For its last content that goes once every device has it. Nearly all threads have none.
    var devices: Marks<MailboxDevice>

    init(marked: Position) {
        members = Marks(marked: marked)
        devices = Marks(marked: marked)
    }

    var isDue: Bool { members.isDue || devices.isDue }
}

/// How far each of some has been marked, up to a position that all are to reach.
struct Marks<Key: Hashable> {
    private var last: Position
    /// Everyone who is not in `behind` has marks up to here.
    private var marked: Position
    /// Those who hadn't got it all when marks were taken last, and what they had.
    private var behind: [Key: Position] = [:]
    /// Not before this tick again.
    private var nextTick = 0
    private(set) var isDue = false

    init(marked: Position) {
        last = marked
        self.marked = marked
    }

    /// There is something at `position` that all are to have.
    mutating func note(_ position: Position, at tick: Int) {
        last = position
        guard !isDue else { return }
        isDue = true
        nextTick = max(nextTick, tick + HubDeliveries.firstTickCount)
    }

    /// Those that have come further since the last time, unless it isn't time yet.
    mutating func take(
        _ all: some Sequence<(key: Key, acked: Position)>, at tick: Int, then tickCount: Int
    ) -> [(key: Key, got: Position)] {
        guard isDue, nextTick <= tick else { return [] }
        var taken: [(key: Key, got: Position)] = []
        var behind: [Key: Position] = [:]
        for (key, acked) in all {
            let before = self.behind[key] ?? marked
            let got = min(acked, last)
            if got > before { taken.append((key, got)) }
            if got < last { behind[key] = max(got, before) }
        }
        self.behind = behind
        marked = last
        isDue = !behind.isEmpty
        nextTick = tick + tickCount
        return taken
    }
}

/// Where marks are to be made.
struct HubDeliveries {
    /// From a message to the first marks after it (1 s): long enough for most devices to have said that they have it. And
    /// between marks of devices that content waits for.
    static let firstTickCount = 1000 / HubLimits.tickMs
    /// Between marks of one thread: 5 s, and 10 s where more than `largeCount` members poll here. So what a busy thread's
    /// members are told of marks is bounded, however many messages it has.
    static let tickCount = 5000 / HubLimits.tickMs
    static let largeTickCount = 10_000 / HubLimits.tickMs
    static let largeCount = 50

    /// Devices that are to be marked in all threads, once they have said that they have what was there.
    var opened: [Newcomer] = []
    /// Of mailboxes that were closed before.
    var left: [Delivery] = []
    /// Feeds with something that somebody may have no mark for.
    var feeds: [Feed] = []

    /// A thread has got a message, or other content that devices are to have.
    mutating func note(_ event: Event, in feed: Feed, at tick: Int) {
        guard event.isMessage || event.untilDelivered else { return }
        if !feed.deliveries.isDue { feeds.append(feed) }
        if event.isMessage { feed.deliveries.members.note(event.position, at: tick) }
        if event.untilDelivered { feed.deliveries.devices.note(event.position, at: tick) }
    }

    /// A mailbox goes, its user having polled no more.
    mutating func leave(_ mailbox: Mailbox) {
        for device in mailbox.devices where device.unmarkedUpTo != nil { left.append(mailbox.delivery(device)) }
    }
}

/// A device that has come to a mailbox.
struct Newcomer {
    let device: MailboxDevice
    /// From this tick on it is marked for what it has, should that not be all yet. Nil once it was.
    var patienceTick: Int?
}

extension HubState {
    /// A device says that it has everything up to `position`.
    mutating func note(_ mailbox: Mailbox, _ session: SessionID, has position: Position) {
        if mailbox.note(session, has: position, head: head) {
            deliveries.opened.append(
                Newcomer(
                    device: MailboxDevice(mailbox: mailbox, session: session),
                    patienceTick: tick + HubDeliveries.tickCount))
        }
    }

    /// The marks that are due. Costs a look at each feed with unmarked messages, and at its mailboxes where marks are due.
    mutating func takeDeliveries() -> [Delivery] {
        var taken = deliveries.left
        deliveries.left = []
        let tick = tick
        deliveries.opened = deliveries.opened.compactMap { newcomer in
            let mailbox = newcomer.device.mailbox
            guard mailboxes[mailbox.user] === mailbox,
                let index = mailbox.devices.firstIndex(where: { $0.session == newcomer.device.session }),
                let all = mailbox.devices[index].unmarkedUpTo
            else { return nil }
            let hasAll = mailbox.devices[index].acked >= all
            guard hasAll || newcomer.patienceTick ?? .max <= tick else { return newcomer }
            taken.append(mailbox.delivery(mailbox.devices[index]))
            if hasAll { mailbox.devices[index].unmarkedUpTo = nil }
            return hasAll ? nil : Newcomer(device: newcomer.device, patienceTick: nil)
        }
        deliveries.feeds.removeAll { feed in
            guard !feed.mailboxes.isEmpty else { return true }
            feed.take(into: &taken, at: tick)
            return !feed.deliveries.isDue
        }
        return taken
    }
}

extension Feed {
    /// Marks up to the thread's last message, or as far as everyone has come.
    fileprivate func take(into taken: inout [Delivery], at tick: Int) {
        let isLarge = mailboxes.count > HubDeliveries.largeCount
        let members = deliveries.members.take(
            mailboxes.lazy.map { (key: $0, acked: $0.acked) }, at: tick,
            then: isLarge ? HubDeliveries.largeTickCount : HubDeliveries.tickCount)
        taken += members.map { Delivery(user: $0.key.user, thread: thread, position: $0.got) }
        let all = mailboxes.lazy.flatMap { mailbox in
            mailbox.devices.lazy.map {
                (key: MailboxDevice(mailbox: mailbox, session: $0.session), acked: $0.acked)
            }
        }
        let devices = deliveries.devices.take(all, at: tick, then: HubDeliveries.firstTickCount)
        taken += devices.map {
            Delivery(user: $0.key.mailbox.user, session: $0.key.session, thread: thread, position: $0.got)
        }
    }
}

extension Mailbox {
    fileprivate func delivery(_ device: Device) -> Delivery {
        Delivery(user: user, session: device.session, thread: nil, position: device.acked)
    }
}
