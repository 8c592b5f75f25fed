// What a device has got, told by the cursor that it polls with.

/// That a user has everything up to a position of the log: of one thread, or, nil, of all of theirs.
package struct Delivery: Hashable, Sendable {
    package var user: UserID
    package var thread: ThreadID?
    package var position: Position

    package init(user: UserID, thread: ThreadID?, position: Position) {
        self.user = user
        self.thread = thread
        self.position = position
    }
}
