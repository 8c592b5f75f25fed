// What waits for one user's devices between their polls, and what is shared by the mailboxes of a thread.
// Confined to the hub's lock.
import Domain

/// What the hub holds of a client that waits, and gives back with the answer.
package protocol Waiter: AnyObject, Sendable {}

/// A poll that waits.
struct ParkedPoll {
    let id: UInt64
    let waiter: any Waiter
    let poller: PolledDevice
    let after: Position
    let limit: Int
    /// When it is answered without events.
    let deadlineTick: Int
    var session: SessionID { poller.identity.session }
}

/// One of a user's devices, as far as it polls here.
struct Device {
    let session: SessionID
    /// The furthest cursor that it polled with: it has everything before that.
    var acked: Position
    /// What came up to here may have got no mark yet: the database is asked about all threads. Nil once it was.
    var unmarkedUpTo: Position?
    /// The same as push sees it.
    var poller: PolledDevice?
}

/// A device in one mailbox.
struct MailboxDevice: Hashable {
    let mailbox: Mailbox
    let session: SessionID
}

/// A thread as this node sees it: its latest events, kept once however many members poll here, and those members.
final class Feed {
    let thread: ThreadID
    var events: EventQueue
    var mailboxes: Set<Mailbox> = []
    var deliveries: FeedDeliveries

    init(_ thread: ThreadID, since position: Position) {
        self.thread = thread
        events = EventQueue(since: position)
        deliveries = FeedDeliveries(marked: position)
    }
}

/// The events of one user, as a cache of the log: whatever isn't here is read from the database. Shared by the user's
/// devices; each has its own cursor.
///
/// It holds only the events that concern nobody else; those of threads are in their feeds.
final class Mailbox {
    struct Membership {
        let feed: Feed
        /// Events after this concern the user.
        let since: Position
    }

    let user: UserID
    /// The snapshot that the memberships were read from: events up to it must not be applied again.
    let openedAt: Position
    var own: EventQueue
    private(set) var memberships: [Membership] = []
    /// No event after this concerns the user: most polls are parked without a look at the feeds.
    var last: Position
    var parked: [ParkedPoll] = []
    var lastPolledTick: Int
    /// The tick at which the hub looks for polls whose time is up.
    var alarmTick: Int?
    /// Of the sources that one read of the log brought events from: how many concern this mailbox. 0 between reads.
    var sourceCount = 0
    /// The furthest cursor that was polled with: a device has everything before it.
    private(set) var acked: Position
    /// Those that poll here.
    var devices: [Device] = []
    /// Whether the user counts as online here: polls, or did lately.
    var isOnline = false
    /// Passing events that came while no poll waited.
    var held: [HeldEvent] = []

    init(user: UserID, at position: Position, head: Position, tick: Int) {
        self.user = user
        openedAt = position
        own = EventQueue(since: position)
        last = head
        lastPolledTick = tick
        acked = .start
    }

    /// Nothing is known here about what came up to this position.
    var since: Position { own.since }

    /// Notes that a device has everything up to `position`; true if it is new here.
    func note(_ session: SessionID, has position: Position, head: Position) -> Bool {
        acked = max(acked, position)
        guard let index = devices.firstIndex(where: { $0.session == session }) else {
            devices.append(Device(session: session, acked: position, unmarkedUpTo: max(openedAt, head)))
            return true
        }
        devices[index].acked = max(devices[index].acked, position)
        return false
    }

    /// What was lost from `end` on nobody has got.
    func forget(from end: Position) {
        let last = Position(end.value - 1)
        acked = min(acked, last)
        for index in devices.indices { devices[index].acked = min(devices[index].acked, last) }
    }

    func join(_ feed: Feed, since position: Position) {
        guard feed.mailboxes.insert(self).inserted else { return }
        memberships.append(Membership(feed: feed, since: position))
    }

    /// Nothing of the thread can be told from here any more, for of its withdrawal this mailbox would not hear.
    func leave(_ feed: Feed, before position: Position) {
        guard feed.mailboxes.remove(self) != nil else { return }
        memberships.removeAll { $0.feed === feed }
        own.forget(upTo: feed.events.last(before: position))
    }

    /// Leaves all feeds, and gives them back.
    func close() -> [Feed] {
        defer { memberships = [] }
        return memberships.map { membership in
            membership.feed.mailboxes.remove(self)
            return membership.feed
        }
    }

    /// The events after `position`, within the answer's bounds, and whether there are more. At least one if there is any.
    /// Nil when some of them may be missing here. Costs a look at each feed.
    func events(after position: Position, limit: Int, byteCountMax: Int) -> (events: [Event], more: Bool)? {
        guard position >= since else { return nil }
        guard position < last else { return ([], false) }
        var found = Array(own.after(position).prefix(limit + 1))
        for membership in memberships where membership.feed.events.last > position {
            let start = max(position, membership.since)
            guard start >= membership.feed.events.since else { return nil }
            found += membership.feed.events.after(start).prefix(limit + 1)
        }
        found.sort { $0.position < $1.position }
        var byteCount = 0
        for (index, event) in found.enumerated() {
            byteCount += event.body.count
            if index == limit || (byteCount > byteCountMax && index > 0) { return (Array(found[..<index]), true) }
        }
        return (found, false)
    }
}

extension Mailbox: Hashable {
    static func == (left: Mailbox, right: Mailbox) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
