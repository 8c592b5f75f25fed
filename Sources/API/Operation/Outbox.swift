// /v1/admin/outbox: what other programs wrote by SQL and Parley could not do.
import Domain
import Store

extension API {
    /// Empty unless an admin token is configured.
    var outboxRoutes: [Route] {
        guard adminGuard != nil else { return [] }
        let failure = "/v1/admin/outbox/failures/{failure_id}"
        return [
            Route(
                .get, "/v1/admin/outbox/failures", .adminListOutboxFailures, query: .read, .admin(listOutboxFailures)),
            Route(.post, failure + "/retry", .adminRetryOutboxFailure, body: .small, .admin(retryOutboxFailure)),
            Route(.delete, failure, .adminDeleteOutboxFailure, .admin(deleteOutboxFailure)),
        ]
    }

    private func listOutboxFailures(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        var query = call.query
        let request = query.pageRequest()
        try query.end()
        return .list("failures", try await store.outboxFailures(request), limit: request.limit)
    }

    private func retryOutboxFailure(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let failure: OutboxFailureID = try call.id("failure_id", orElse: .failureNotFound)
        try await call.fields(isOptional: true) { fields in try fields.end() }
        try await store.retryOutboxFailure(failure, by: actor)
        return .noContent
    }

    private func deleteOutboxFailure(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        try await store.deleteOutboxFailure(call.id("failure_id", orElse: .failureNotFound), by: actor)
        return .noContent
    }
}
