// Delivered marks from cursors: polling with one says that the device has all before it. A poll only notes how far its
// cursor is; here it becomes marks, a thread at a time and seldom, for `DeliveryKeeper` to write. What a crash loses of it
// is said again by the next poll: whoever opens a mailbox is marked in all threads, once.
import Domain

/// How far the members of a thread that poll here have been marked.
struct FeedDeliveries {
    /// The thread's last message, as far as this node has seen it.
    var lastMessage = Position.start
    /// Everyone who is not in `behind` has marks up to here.
    var marked: Position
    /// Those who hadn't got it all when marks were taken last, and what they had.
    var behind: [Mailbox: Position] = [:]
    /// Not before this tick again.
    var nextTick = 0
    var isDue = false

    init(marked: Position) { self.marked = marked }
}

/// Where marks are to be made.
struct HubDeliveries {
    /// From a message to the first marks after it (1 s): long enough for most devices to have said that they have it.
    static let firstTickCount = 1000 / HubLimits.tickMs
    /// Between marks of one thread: 5 s, and 10 s where more than `largeCount` members poll here. So what a busy thread's
    /// members are told of marks is bounded, however many messages it has.
    static let tickCount = 5000 / HubLimits.tickMs
    static let largeTickCount = 10_000 / HubLimits.tickMs
    static let largeCount = 50

    /// Mailboxes whose users are to be marked in all threads, once they have said that they have what was there.
    var opened: [Mailbox] = []
    /// Of those that were closed before.
    var left: [Delivery] = []
    /// Feeds with messages that somebody may have no mark for.
    var feeds: [Feed] = []

    /// A thread has got a message.
    mutating func note(_ position: Position, in feed: Feed, at tick: Int) {
        feed.deliveries.lastMessage = position
        guard !feed.deliveries.isDue else { return }
        feed.deliveries.isDue = true
        feed.deliveries.nextTick = max(feed.deliveries.nextTick, tick + Self.firstTickCount)
        feeds.append(feed)
    }

    /// A mailbox goes, its user having polled no more.
    mutating func leave(_ mailbox: Mailbox) {
        guard mailbox.unmarkedUpTo != nil else { return }
        left.append(Delivery(user: mailbox.user, thread: nil, position: mailbox.acked))
    }
}

extension HubState {
    /// The marks that are due. Costs a look at each feed with unmarked messages, and at its mailboxes where marks are due.
    mutating func takeDeliveries() -> [Delivery] {
        var taken = deliveries.left
        deliveries.left = []
        deliveries.opened.removeAll { mailbox in
            guard mailboxes[mailbox.user] === mailbox else { return true }
            guard let all = mailbox.unmarkedUpTo, mailbox.acked >= all else { return false }
            mailbox.unmarkedUpTo = nil
            taken.append(Delivery(user: mailbox.user, thread: nil, position: mailbox.acked))
            return true
        }
        let tick = tick
        deliveries.feeds.removeAll { feed in
            guard !feed.mailboxes.isEmpty else { return true }
            guard feed.deliveries.nextTick <= tick else { return false }
            feed.take(into: &taken, at: tick)
            return !feed.deliveries.isDue
        }
        return taken
    }
}

extension Feed {
    /// Everyone's marks up to the thread's last message, or as far as they have come.
    fileprivate func take(into taken: inout [Delivery], at tick: Int) {
        let last = deliveries.lastMessage
        var behind: [Mailbox: Position] = [:]
        for mailbox in mailboxes {
            let marked = deliveries.behind[mailbox] ?? deliveries.marked
            let got = min(mailbox.acked, last)
            if got > marked { taken.append(Delivery(user: mailbox.user, thread: thread, position: got)) }
            if got < last { behind[mailbox] = max(got, marked) }
        }
        deliveries.behind = behind
        deliveries.marked = last
        deliveries.isDue = !behind.isEmpty
        let isLarge = mailboxes.count > HubDeliveries.largeCount
        deliveries.nextTick = tick + (isLarge ? HubDeliveries.largeTickCount : HubDeliveries.tickCount)
    }
}
