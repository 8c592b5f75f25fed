// What polls are told and the log doesn't keep: that somebody types, comes or goes.

/// An event without a position. The same for everyone who gets it: the members of its threads, but for the one it is about.
package struct PassingEvent: Hashable, Sendable {
    /// Who types, comes or goes.
    package var user: UserID
    package var threads: [ThreadID]
    /// The whole event as clients get it, on one line.
    package var body: JSONText

    package init(user: UserID, threads: [ThreadID], body: JSONText) {
        self.user = user
        self.threads = threads
        self.body = body
    }
}
