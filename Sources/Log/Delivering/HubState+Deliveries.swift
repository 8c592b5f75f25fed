// Delivered marks from cursors. A device that polls with a cursor has received everything up to it. A poll only records
// the cursor. Now and then this becomes marks, a thread at a time, which `DeliveredMarkWorker` stores. After a crash
// the next poll repeats it: each device that comes to a mailbox is marked in all threads, once.
import Domain

/// How far the members of a thread who poll here have been marked.
struct FeedDeliveries {
    /// Up to the thread's last message.
    var members: Marks<Mailbox>
    /// Up to its last content that is withdrawn once every device has it. Nearly all threads have none.
    var devices: Marks<MailboxDevice>

    init(marked: Position) {
        members = Marks(marked: marked)
        devices = Marks(marked: marked)
    }

    var isDue: Bool { members.isDue || devices.isDue }
}

/// How far each key has been marked, up to a position that all have to reach.
struct Marks<Key: Hashable> {
    private var last: Position
    /// Every key that is not in `behind` has marks up to here.
    private var marked: Position
    /// The keys that had not received everything when marks were last collected, and what they had received.
    private var behind: [Key: Position] = [:]
    /// Marks are not collected again before this tick.
    private var nextTick = 0
    private(set) var isDue = false

    init(marked: Position) {
        last = marked
        self.marked = marked
    }

    /// Records that all have to reach `position`.
    mutating func record(_ position: Position, at tick: Int) {
        last = position
        guard !isDue else { return }
        isDue = true
        nextTick = max(nextTick, tick + HubDeliveries.firstTickCount)
    }

    /// Collects the keys that have moved since the last call. None before `nextTick`.
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

/// The threads and devices for which marks are due.
struct HubDeliveries {
    /// The time from a message to the first marks after it (1 s): by then most devices have polled again. Also the time
    /// between marks of devices that content waits for.
    static let firstTickCount = 1000 / HubLimits.tickMs
    /// The time between marks of one thread: 5 s, and 10 s where more than `largeCount` members poll here. It bounds
    /// the events about marks in a busy thread.
    static let tickCount = 5000 / HubLimits.tickMs
    static let largeTickCount = 10_000 / HubLimits.tickMs
    static let largeCount = 50

    /// Devices that will be marked in all threads when their cursors have passed what was there.
    var opened: [Newcomer] = []
    /// Marks of devices whose mailboxes were closed before.
    var left: [Delivery] = []
    /// Feeds that may lack marks.
    var feeds: [Feed] = []

    /// Records that a thread has a message, or other content that devices have to receive.
    mutating func record(_ event: Event, in feed: Feed, at tick: Int) {
        guard event.isMessage || event.untilDelivered else { return }
        if !feed.deliveries.isDue { feeds.append(feed) }
        if event.isMessage { feed.deliveries.members.record(event.position, at: tick) }
        if event.untilDelivered { feed.deliveries.devices.record(event.position, at: tick) }
    }

    /// Keeps the marks of a mailbox that closes.
    mutating func leave(_ mailbox: Mailbox) {
        for device in mailbox.devices where device.unmarkedUpTo != nil { left.append(mailbox.delivery(device)) }
    }
}

/// A device that is new in a mailbox.
struct Newcomer {
    let device: MailboxDevice
    /// At this tick, write a partial mark if the device has not caught up. Nil afterwards.
    var partialMarkTick: Int?
}

extension HubState {
    /// Records that a device has received everything up to `position`.
    mutating func recordAck(of session: SessionID, upTo position: Position, in mailbox: Mailbox) {
        if mailbox.recordAck(of: session, upTo: position, head: head) {
            deliveries.opened.append(
                Newcomer(
                    device: MailboxDevice(mailbox: mailbox, session: session),
                    partialMarkTick: tick + HubDeliveries.tickCount))
        }
    }

    /// Removes and returns the marks that are due. Checks each feed with unmarked messages, and its mailboxes where
    /// marks are due.
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
            guard hasAll || newcomer.partialMarkTick ?? .max <= tick else { return newcomer }
            taken.append(mailbox.delivery(mailbox.devices[index]))
            if hasAll { mailbox.devices[index].unmarkedUpTo = nil }
            return hasAll ? nil : Newcomer(device: newcomer.device, partialMarkTick: nil)
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
    /// Collects marks up to the thread's last message, or as far as each member has received it.
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
