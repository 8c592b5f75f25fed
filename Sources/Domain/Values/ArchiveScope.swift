// What an archive holds.

/// The filters of an export. Without any: everything.
package struct ArchiveScope: Sendable, Equatable {
    package var user: UserID?
    package var thread: ThreadID?
    /// Messages of this time or later are exported.
    package var since: Timestamp?
    /// Messages before this time are exported.
    package var until: Timestamp?

    package init(user: UserID? = nil, thread: ThreadID? = nil, since: Timestamp? = nil, until: Timestamp? = nil) {
        self.user = user
        self.thread = thread
        self.since = since
        self.until = until
    }
}
