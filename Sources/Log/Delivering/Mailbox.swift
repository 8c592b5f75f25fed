// The events that wait for one user's devices between their polls, and the events that the mailboxes of a thread share.
// Confined to the hub's lock.
import Domain

/// A waiting client, which the hub passes back with the answer.
package protocol Waiter: AnyObject, Sendable {}

/// A poll that waits.
struct ParkedPoll {
    let id: UInt64
    let waiter: any Waiter
    let poller: PolledDevice
    let after: Position
    let limit: Int
    /// The tick at which it is answered without events.
    let deadlineTick: Int
    var session: SessionID { poller.identity.session }
}

/// One of a user's devices that poll here.
struct Device {
    let session: SessionID
    /// The furthest cursor that it polled with: it has received everything up to it.
    var acked: Position
    /// Events up to here may lack a delivered mark, in all threads. Nil when the marks are stored.
    var unmarkedUpTo: Position?
    /// The same device, as planning alerts sees it.
    var poller: PolledDevice?
}

/// A device in one mailbox.
struct MailboxDevice: Hashable {
    let mailbox: Mailbox
    let session: SessionID
}

/// A thread on this node: its latest events, kept once for all members who poll here, and the mailboxes of those
/// members.
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

/// The events of one user, as a cache of the log: events that are not here are read from the database. Shared by the
/// user's devices; each has its own cursor.
///
/// It holds only the events for this user alone; events of threads are in their feeds.
final class Mailbox {
    struct Membership {
        let feed: Feed
        /// Events after this concern the user.
        let since: Position
    }

    let user: UserID
    /// The position of the snapshot that the memberships are from: events up to it must not be applied again.
    let openedAt: Position
    var own: EventQueue
    private(set) var memberships: [Membership] = []
    /// No event after this concerns the user. So most polls are parked without a look at the feeds.
    var last: Position
    var parked: [ParkedPoll] = []
    var lastPolledTick: Int
    /// The tick at which the hub checks the mailbox.
    var alarmTick: Int?
    /// How many of the sources of one read of the log concern this mailbox. 0 between reads.
    var sourceCount = 0
    /// The furthest cursor of a poll: one device has received everything up to it.
    private(set) var acked: Position
    /// The devices that poll here.
    var devices: [Device] = []
    /// Whether the user counts as online here: polls, or did within the last minute.
    var isOnline = false
    /// Events that are not stored and came while no poll waited.
    var held: [HeldEvent] = []

    init(user: UserID, at position: Position, head: Position, tick: Int) {
        self.user = user
        openedAt = position
        own = EventQueue(since: position)
        last = head
        lastPolledTick = tick
        acked = .start
    }

    /// The mailbox knows nothing about events up to this position.
    var since: Position { own.since }

    /// Records that a device has received everything up to `position`. Returns true if the device is new here.
    func recordAck(of session: SessionID, upTo position: Position, head: Position) -> Bool {
        acked = max(acked, position)
        guard let index = devices.firstIndex(where: { $0.session == session }) else {
            devices.append(Device(session: session, acked: position, unmarkedUpTo: max(openedAt, head)))
            return true
        }
        devices[index].acked = max(devices[index].acked, position)
        return false
    }

    /// Forgets that devices received positions from `end` on: the log has lost them.
    func forget(from end: Position) {
        let last = Position(end.value - 1)
        acked = min(acked, last)
        for index in devices.indices { devices[index].acked = min(devices[index].acked, last) }
    }

    func join(_ feed: Feed, since position: Position) {
        guard feed.mailboxes.insert(self).inserted else { return }
        memberships.append(Membership(feed: feed, since: position))
    }

    /// Leaves a thread. The mailbox forgets the events before, because it would miss their withdrawal.
    func leave(_ feed: Feed, before position: Position) {
        guard feed.mailboxes.remove(self) != nil else { return }
        memberships.removeAll { $0.feed === feed }
        own.forget(upTo: feed.events.last(before: position))
    }

    /// Leaves all feeds and returns them.
    func close() -> [Feed] {
        defer { memberships = [] }
        return memberships.map { membership in
            membership.feed.mailboxes.remove(self)
            return membership.feed
        }
    }

    /// Returns the events after `position`, within the answer's bounds, and whether there are more. At least one if
    /// there is any. Nil when some may be missing here. Checks each feed.
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
