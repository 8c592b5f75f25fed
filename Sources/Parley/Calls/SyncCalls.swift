// The inbox, and the events after it. `ParleyClient` makes these calls itself.

extension Call {
    /// The inbox, and the events after it.
    public static var sync: SyncCalls { SyncCalls() }
}

/// `Call.sync`.
public struct SyncCalls: Sendable {
    /// The user's threads, newest activity first, and the cursor to sync from. With labels those that have all of them,
    /// the thread's or the user's own. `GET /v1/inbox`
    public func inbox(
        unreadOnly: Bool = false, labels: [String] = [], limit: Int? = nil, page: String? = nil
    ) -> Call<InboxPage> {
        Call(
            "GET", "v1", "inbox",
            query: [("unread", unreadOnly ? "true" : nil)] + .labels(labels) + .page(limit, page))
    }

    /// The events after a cursor: at once if there are any, else as soon as there is one, and after `wait` (at
    /// most 55 s) with none. Without a cursor the present one. `GET /v1/sync`
    public func events(after cursor: Cursor?, wait: Duration = .seconds(25), limit: Int? = nil) -> Call<SyncPage> {
        var call = Call<SyncPage>(
            "GET", "v1", "sync",
            query: [("cursor", cursor), ("wait", String(wait.components.seconds)), ("limit", limit.map { String($0) })])
        call.timeout = wait + .seconds(15)
        return call
    }
}

extension [(String, String?)] {
    /// Labels that each thread of the list has.
    static func labels(_ labels: [String]) -> Self { labels.map { ("label", $0) } }

    /// The parameters of every list.
    static func page(_ limit: Int?, _ page: String?) -> Self { [("limit", limit.map { String($0) }), ("page", page)] }
}
