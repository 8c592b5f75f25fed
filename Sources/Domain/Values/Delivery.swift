// What a device has got, told by the cursor that it polls with.

/// That a user has everything up to a position of the log: of one thread, or, nil, of all of theirs.
package struct Delivery: Hashable, Sendable {
    package var user: UserID
    /// The device that has it; nil where it matters to nobody which.
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
