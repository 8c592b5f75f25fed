// The members of a thread.
import Observation
import Parley

/// The members of one thread, with their roles and how far each has read.
@MainActor
@Observable
public final class MembersModel {
    /// The members who are invited or joined, longest-standing first.
    public private(set) var rows: [Member] = []
    /// Whether `rows` has been read from the store.
    public private(set) var isLoaded = false

    @ObservationIgnored private let thread: ChatThread
    @ObservationIgnored private let shared = SharedRun()

    /// Shows the members of a thread.
    public init(_ thread: ChatThread) { self.thread = thread }

    /// Follows the members until the task is cancelled. Several views may run the same model.
    public func run() async {
        await shared.join { [self] in
            await thread.members().follow { change in
                change.apply(to: &rows)
                isLoaded = true
            }
        }
    }
}
