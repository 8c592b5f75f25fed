// The outcomes of deliveries to an endpoint, as one node decides them and the database records them.

/// An event that failed, or waits behind one.
package struct OpenDelivery: Sendable, Equatable {
    package var position: Position
    package var event: String
    package var thread: ThreadID?
    /// The time of the event, in ms since 1970.
    package var atMs: Int64
    package var tryCount: Int
    /// When it is retried, in ms since 1970; nil for an event that was not tried.
    package var nextMs: Int64?
    /// The HTTP status of the last answer; nil if none came.
    package var status: Int?
    /// Why the last try failed.
    package var reason: String?

    package init(
        position: Position, event: String, thread: ThreadID?, atMs: Int64, tryCount: Int = 0, nextMs: Int64? = nil,
        status: Int? = nil, reason: String? = nil
    ) {
        self.position = position
        self.event = event
        self.thread = thread
        self.atMs = atMs
        self.tryCount = tryCount
        self.nextMs = nextMs
        self.status = status
        self.reason = reason
    }
}

/// The outcomes of deliveries since the last call.
package struct WebhookOutcomes: Sendable {
    package struct Delivered: Sendable {
        package var position: Position
        package var event: String
        package var status: Int
        package var tryCount: Int

        package init(position: Position, event: String, status: Int, tryCount: Int) {
            self.position = position
            self.event = event
            self.status = status
            self.tryCount = tryCount
        }
    }

    package struct Open: Sendable {
        package enum State: Int32, Sendable { case waiting, failed, parked }

        package var delivery: OpenDelivery
        package var state: State

        package init(_ delivery: OpenDelivery, _ state: State) {
            self.delivery = delivery
            self.state = state
        }
    }

    package var delivered: [Delivered] = []
    /// Has at most one row for each event.
    package var open: [Open] = []
    /// Events that the log no longer has.
    package var removed: [Position] = []
    /// Whether the endpoint answered 410.
    package var isGone = false

    package init() {}
}
