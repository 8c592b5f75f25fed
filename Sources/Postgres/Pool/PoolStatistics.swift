// The pool's figures for metrics.

/// A snapshot of the pool. Totals count from the client's start.
package struct PoolStatistics: Sendable, Equatable {
    package var connectionCount = 0
    package var connectingCount = 0
    package var inFlightCount = 0
    package var waitingCount = 0
    package var totals = Totals()

    package struct Totals: Sendable, Equatable {
        /// Statements accepted.
        package var statementCount = 0
        /// Statements that the server answered with an error, other than those of `timeoutCount`.
        package var serverErrorCount = 0
        /// Statements that the server ended because they took longer than `statementTimeout`.
        package var timeoutCount = 0
        package var poolFullCount = 0
        /// Statements that waited too long.
        package var waitTimeoutCount = 0
        package var connectCount = 0
        package var connectFailureCount = 0
        /// Connections that broke or were dropped.
        package var lostCount = 0
        /// Statements sent again because their prepared form was missing.
        package var retryCount = 0
    }
}
