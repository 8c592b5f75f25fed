// What the router needs of the node, and calls of several features.
import Credentials
import Domain
import Log
import Logging
import Store

/// What the router needs of the node, and calls of several features. A feature that needs few of these gets only them.
package struct CallServices: Sendable {
    package let store: Store
    package let log: LogComponents<SendWaiter>
    package let authenticator: Authenticator
    package let rates: RateLimits
    /// The limit on concurrent reads of an account. Polls, streams and the router's calls share it.
    package let reads: CallSlots<UserID>
    package let limits: Limits
    package let origins: PublicOrigins
    let adminGuard: AdminGuard
    package let logger: Logger

    /// - Parameter adminTokens: empty for a service whose admin API only keys open.
    package init(
        store: Store, log: LogComponents<SendWaiter>, rates: RateLimits, reads: CallSlots<UserID>, limits: Limits,
        origins: PublicOrigins, adminTokens: [AdminToken], logger: Logger
    ) {
        self.store = store
        self.log = log
        self.rates = rates
        self.reads = reads
        self.limits = limits
        self.origins = origins
        self.logger = logger
        let isFresh: @Sendable () -> Bool = { log.tail.isFresh(within: .seconds(1)) }
        authenticator = Authenticator(sessions: log.sessions, rates: rates, isFresh: isFresh)
        adminGuard = AdminGuard(
            adminTokens, keys: log.adminKeys, rates: rates, logger: logger, isFresh: isFresh)
    }
}
