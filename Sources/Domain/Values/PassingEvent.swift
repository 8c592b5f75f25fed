// Events that polls receive and the log does not keep: typing and presence.

/// An event without a position. It is the same for all recipients: the members of its threads, except its subject.
package struct PassingEvent: Hashable, Sendable {
    /// The user that the event is about.
    package var user: UserID
    package var threads: [ThreadID]
    /// The whole event as clients receive it, on one line.
    package var body: JSONText

    package init(user: UserID, threads: [ThreadID], body: JSONText) {
        self.user = user
        self.threads = threads
        self.body = body
    }
}
