// The outbox in Parley's own database: handling what other programs wrote by SQL, and what failed.
import Domain
import Postgres

/// How much of an outbox was handled by one call.
package struct OutboxProgress: Sendable, Equatable {
    package var handledCount = 0
    /// Those of `handledCount` that became failures.
    package var failedCount = 0
    package init(handledCount: Int = 0, failedCount: Int = 0) {
        self.handledCount = handledCount
        self.failedCount = failedCount
    }
}

extension Store {
    /// Handles at most `limit` rows of the outbox, each exactly once: the log's events and the deletion of the row are
    /// one transaction. Throws `internal_error` if one of several rows makes the call fail as a whole; repeated with a
    /// limit of 1, the guilty row becomes a failure.
    package func pumpOutbox(limit: Int, limits: Limits) async throws -> OutboxProgress {
        try await row("outbox_step", [.int(limit)] + Self.memberLimits(limits)) {
            OutboxProgress(handledCount: Int(try $0.int4(0)), failedCount: Int(try $0.int4(1)))
        }
    }

    /// Sets the limits that `parley.send` checks.
    package func configureOutbox(_ limits: Limits) async throws {
        try await call("parley.outbox_configure", Self.sizeLimits(limits))
    }

    static func memberLimits(_ limits: Limits) -> [Parameter] {
        [
            .int(limits.groupMemberCountMax), .int(limits.roomMemberCountMax),
            .int(limits.accountThreadCountMax),
        ]
    }

    static func sizeLimits(_ limits: Limits) -> [Parameter] {
        [.int(limits.textByteCountMax), .int(limits.payloadByteCountMax)]
    }

    /// Returns a page of the rows that failed, the latest first.
    package func outboxFailures(_ request: PageRequest) async throws -> Page {
        try await reads.page("outbox_failure_list", [], request)
    }

    /// Puts a failed row back into the outbox. Throws `failure_not_found`, `failure_not_retryable`.
    package func retryOutboxFailure(_ failure: OutboxFailureID, by actor: AdminActor) async throws {
        try await call("outbox_failure_retry", actor.parameters + [.id(failure)])
    }

    /// Throws `failure_not_found`.
    package func deleteOutboxFailure(_ failure: OutboxFailureID, by actor: AdminActor) async throws {
        try await call("outbox_failure_delete", actor.parameters + [.id(failure)])
    }
}
