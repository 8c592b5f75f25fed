// /v1/admin/outbox: what other programs wrote by SQL and Parley could not do.
import Domain
import Store

struct OutboxCalls: Sendable {
    let store: Store

    var routes: [Route] {
        let (all, one) = ("/v1/admin/outbox/failures", "/v1/admin/outbox/failures/{failure_id}")
        return [
            Route(
                .get, all, .adminListOutboxFailures, query: .read, .adminList(.audit, "failures", store.outboxFailures)),
            Route(
                .post, one + "/retry", .adminRetryOutboxFailure, body: .small,
                .adminDone(.audit) { call, actor in
                    let failure = try call.failure()
                    try await call.noFields()
                    try await store.retryOutboxFailure(failure, by: actor)
                }),
            Route(
                .delete, one, .adminDeleteOutboxFailure,
                .adminDone(.audit) { try await store.deleteOutboxFailure($0.failure(), by: $1) }),
        ]
    }
}

extension Call {
    fileprivate func failure() throws(Problem) -> OutboxFailureID { try id(of: "failure", orElse: .failureNotFound) }
}
