// The caller's threads, latest activity first, and the cursor from which to sync.
import Domain
import Store

struct InboxCalls: Sendable {
    let store: Store

    var routes: [Route] { [Route(.get, "/v1/inbox", .getInbox, query: .read, .signedIn(getInbox))] }

    private func getInbox(_ call: Call, _ identity: Identity) async throws -> Answer {
        var query = call.query(list: "label")
        let request = query.pageRequest()
        let unreadOnly = query.optional("unread", Bool.self) ?? false
        let labels = query.labels()
        try query.end()
        let page = try await store.inbox(for: identity.user, unreadOnly: unreadOnly, labels: labels, request)
        var writer = JSONWriter(reserving: page.threads.utf8.count + 160)
        writer.raw("{\"threads\":")
        writer.raw(page.threads)
        writer.raw(",\"unread_total\":")
        writer.write(page.unreadTotal)
        writer.raw(",\"cursor\":")
        writer.write(page.cursor.description)
        writer.writeNext(page.next)
        writer.raw("}")
        return .json(JSONText(utf8: writer.utf8))
    }
}
