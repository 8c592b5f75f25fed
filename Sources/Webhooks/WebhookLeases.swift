// Which endpoints a node delivers to. Decisions only: no I/O, and time is a parameter.
import Domain

/// The endpoints that a node has leases of. When a node dies, another one claims its endpoints and continues from the
/// database.
package struct WebhookLeases: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// The length of a lease.
    package static let leaseSeconds = 25
    /// Endpoints that a node claims at once, so that nodes that start together share them.
    package static let claimMax = 8
    /// The share of a lease that is left at least, whenever it was looked after: see webhook_tend.
    private static let leaseSafe = Duration.seconds(15)
    /// Between two looks at the leases: four ticks, less what a tick may come late.
    private static let interval = Duration.milliseconds(900)

    /// What a look at the leases means for the loops.
    package struct Changes: Sendable, Equatable {
        /// Until when the node may send.
        package var leaseEnd: Instant
        /// Loops that continue.
        package var renewed: [WebhookID] = []
        /// Loops that stop: the endpoint is disabled or deleted, or another node has it.
        package var stopped: [WebhookID] = []
        /// Endpoints that get a loop.
        package var started: [WebhookID] = []
    }

    private var loops: Set<WebhookID> = []
    private var tendedAt: Instant?

    package init() {}

    /// The endpoints with a loop, in order.
    package var ids: [WebhookID] { loops.sorted() }

    /// Returns whether to renew and claim now. The look then counts as made, even if it fails.
    package mutating func isTendDue(now: Instant) -> Bool {
        if let tendedAt, now < tendedAt + Self.interval { return false }
        tendedAt = now
        return true
    }

    /// Reports the endpoints that the node holds. An endpoint whose loop is ending gets the next one after that.
    ///
    /// - Parameter began: when the call began, because the database counts the lease from its own time in the call.
    package mutating func tended(_ held: [WebhookID], began: Instant) -> Changes {
        var changes = Changes(leaseEnd: began + Self.leaseSafe)
        changes.stopped = loops.subtracting(held).sorted()
        for id in held {
            if loops.insert(id).inserted { changes.started.append(id) } else { changes.renewed.append(id) }
        }
        return changes
    }

    /// Reports that an endpoint's loop has ended, or could not begin.
    package mutating func ended(_ id: WebhookID) { loops.remove(id) }
}
