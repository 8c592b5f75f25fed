// Searching messages by words.
import Domain
import Store

struct SearchCalls: Sendable {
    let store: Store
    let limits: Limits
    let slots: CallSlots<UserID>

    var routes: [Route] {
        [Route(.get, "/v1/search", .searchMessages, query: .read, .signedIn(searchMessages))]
    }

    private func searchMessages(_ call: Call, _ identity: Identity) async throws -> Answer {
        let search = try MessageSearch(call.query)
        let page = try await slots.run(for: identity.user) {
            try await store.searchMessages(
                search.query, in: search.thread, for: identity.user, search.request,
                timeoutMs: limits.searchTimeoutMs)
        }
        return .list("results", page, limit: search.request.limit)
    }
}

/// The parameters of `GET /v1/search`. The database decides what a word is, and refuses a query without one.
private struct MessageSearch {
    static let queryCharacterCountMax = 256

    let query: String
    let thread: ThreadID?
    let request: PageRequest

    /// Never inlined, like `Call.read`, so that no fields are read inside an async function.
    @inline(never)
    init(_ given: Fields<String>) throws {
        var fields = given
        let query = fields.required("q") { text throws(Invalid) in
            guard text.unicodeScalars.count <= Self.queryCharacterCountMax else {
                throw Invalid("Must have at most \(Self.queryCharacterCountMax) characters.")
            }
            return text
        }
        thread = fields.optional("thread", ThreadID.self)
        request = fields.pageRequest()
        self.query = try fields.values(query)
    }
}
