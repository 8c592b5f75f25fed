// /v1/admin/holds: legal holds. While one is in force, content that is removed or replaced is kept for administrators.
import Domain
import Store

struct HoldCalls: Sendable {
    let store: Store

    var routes: [Route] {
        let (all, one) = ("/v1/admin/holds", "/v1/admin/holds/{hold_id}")
        return [
            Route(.post, all, .adminCreateHold, body: .small, repeats: .kept, .admin(.holds, createHold)),
            Route(.get, all, .adminListHolds, query: .read, .adminList(.holds, "holds", store.holds)),
            Route(.get, one, .adminGetHold, .admin(.holds) { call, _ in .json(try await store.hold(call.hold())) }),
            Route(
                .delete, one, .adminReleaseHold, .adminDone(.holds) { try await store.releaseHold($0.hold(), by: $1) }),
            Route(.get, one + "/contents", .adminListHoldContents, query: .read, .admin(.holds, listHoldContents)),
            Route(.get, one + "/export", .adminExportHold, .admin(.holds, exportHold)),
            Route(.get, "/v1/admin/export-key", .adminGetExportKey, .admin(.export, getExportKey)),
        ]
    }

    private func createHold(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let draft = try await call.fields { fields in try HoldDraft(&fields) }
        return .json(try await store.createHold(.make(), draft, by: actor, once: call.once), status: .created)
    }

    private func listHoldContents(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let hold = try call.hold()
        var query = call.query
        let request = PageRequest(limit: query.limit(), after: query.optional("cursor", PageKey.self))
        try query.end()
        let page = try await store.heldContents(
            hold, after: request.after?.rank ?? 0, limit: request.limit, by: actor)
        let next = page.next.map { PageKey(rank: $0, id: hold.uuid) }
        return .list("contents", Page(items: page.items, next: next), limit: request.limit)
    }
}

extension Call {
    /// The hold of the path.
    func hold() throws(Problem) -> HoldID {
        try id(of: "hold", orElse: .holdNotFound)
    }
}
