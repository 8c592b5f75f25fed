// The list of threads, as a page of an app shows it.
import Observation
import Parley

/// The inbox: threads with the newest activity first, the number of unread messages, and whether the client is connected.
///
/// ```swift
/// List(inbox.rows) { row in ThreadRow(row) }
///     .task { await inbox.run() }
/// ```
@MainActor
@Observable
public final class InboxModel {
    /// The threads that the filter lets through.
    public private(set) var rows: [InboxRow] = []
    /// Unread messages in all threads: the number for a badge.
    public private(set) var unreadTotal = 0
    /// The connection to the server, for a line such as "Offline".
    public private(set) var status: ConnectionStatus
    /// Whether `rows` has been read from the store. Before that an empty list means nothing.
    public private(set) var isLoaded = false

    /// Which threads are shown. A new filter keeps the old rows until the new ones are there.
    public var filter: InboxFilter {
        didSet { if filter != oldValue { rowsRun.restart() } }
    }

    @ObservationIgnored private let parley: ParleyClient
    @ObservationIgnored private let shared = SharedRun()
    @ObservationIgnored private let rowsRun = Restarting()

    /// Shows the threads that the filter lets through.
    public init(_ parley: ParleyClient, filter: InboxFilter = .active) {
        self.parley = parley
        self.filter = filter
        status = parley.currentStatus
    }

    /// Follows the inbox until the task is cancelled. Several views may run the same model.
    public func run() async {
        await shared.join { [self] in
            await together(
                { await self.followRows() },
                { await self.parley.unreadTotal.follow { self.unreadTotal = $0 } },
                { await self.parley.status.follow { self.status = $0 } })
        }
    }

    private func followRows() async {
        await rowsRun.run { [self] in
            await parley.inbox(filter).follow { change in
                change.apply(to: &rows)
                isLoaded = true
            }
        }
    }
}
