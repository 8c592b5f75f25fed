// How far a device has received the log, as the cursor of its poll shows.

/// A user has received everything up to a position of the log: of one thread or, if nil, of all their threads.
package struct Delivery: Hashable, Sendable {
    package var user: UserID
    /// The device that received it; nil if the device does not matter.
    package var session: SessionID?
    package var thread: ThreadID?
    package var position: Position

    package init(user: UserID, session: SessionID? = nil, thread: ThreadID?, position: Position) {
        self.user = user
        self.session = session
        self.thread = thread
        self.position = position
    }
}
