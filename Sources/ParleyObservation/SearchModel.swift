// Searching messages while a person types.
import Observation
import Parley

/// A search field and its results: first the messages in the store, then those that only the server has.
///
/// ```swift
/// List(search.rows) { result in ResultRow(result) }
///     .searchable(text: $search.text)
///     .task { await search.run() }
/// ```
@MainActor
@Observable
public final class SearchModel {
    /// What is searched for. Each change starts a new search as soon as nothing was typed for 200 ms.
    public var text = "" {
        didSet {
            guard text != oldValue else { return }
            isLoaded = false
            state = .searching
            search.restart()
        }
    }
    /// The results for `text`, the newest first; empty while `text` is.
    public private(set) var rows: [SearchResult] = []
    /// Whether `rows` are the results for `text`, not for an earlier text.
    public private(set) var isLoaded = true
    /// How far the search for `text` is. Show that nothing was found only when it is not `searching` any more.
    public private(set) var state = SearchState.complete

    @ObservationIgnored private let parley: ParleyClient
    @ObservationIgnored private let thread: ThreadID?
    @ObservationIgnored private let shared = SharedRun()
    @ObservationIgnored private let search = Restarting()

    /// Searches in all threads, or in one.
    public init(_ parley: ParleyClient, in thread: ThreadID? = nil) {
        self.parley = parley
        self.thread = thread
    }

    /// Searches until the task is cancelled. Several views may run the same model.
    public func run() async {
        await shared.join { [self] in
            await search.run { [self] in await searchOnce() }
        }
    }

    /// Follows the results for the present text until the text changes.
    private func searchOnce() async {
        let wanted = text.trimmingPrefix(while: \.isWhitespace)
        if wanted.isEmpty {
            rows = []
            isLoaded = true
            state = .complete
        } else {
            try? await Task.sleep(for: .milliseconds(200))
            if Task.isCancelled { return }
            await parley.search(String(wanted), in: thread).follow { found in
                rows = found.results
                state = found.state
                isLoaded = true
            }
        }
        // Nothing is followed for an empty text, and this must not end before the text changes.
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3_600)) }
    }
}
