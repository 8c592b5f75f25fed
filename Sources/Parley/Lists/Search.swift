// Search: what this device has at once, then what the server finds.
import Foundation
internal import GRDB

/// A message that a search found.
public struct SearchResult: Sendable, Equatable, Identifiable {
    public var id: MessageID { message.id }
    /// The message.
    public let message: Message
    /// A part of the text, with the matching words between `<mark>` and `</mark>`. The rest is HTML-escaped.
    public let snippet: String

    /// Makes a result, for example for a preview.
    public init(message: Message, snippet: String) {
        self.message = message
        self.snippet = snippet
    }
}

/// What a search has found so far, and whether it has ended.
public struct SearchResults: Sendable, Equatable {
    /// Newest first, at most 200 of the server's and 200 of the store's.
    public var results: [SearchResult]
    /// Whether more results may come.
    public var state: SearchState

    /// Makes a value, for example for a preview.
    public init(results: [SearchResult] = [], state: SearchState = .searching) {
        self.results = results
        self.state = state
    }
}

/// How far a search is.
@nonexhaustive
public enum SearchState: Sendable, Hashable {
    /// The results are those of the store, and the server has not answered yet.
    case searching
    /// The results are complete.
    case complete
    /// The server has more than 200 results. `call(.messages.search(…))` reads further pages.
    case truncated
    /// The server could not be asked, so the results are those of the store.
    case failed(ParleyError)

    /// Why the server could not be asked; nil if it was.
    public var error: ParleyError? { if case .failed(let error) = self { error } else { nil } }
}

extension ParleyClient {
    /// Finds messages in which every word of `text` begins a word: at once those in the store, and then also those that
    /// only the server has. The value whose `state` is not `searching` any more has the server's results. The server is
    /// asked once; search again when the connection is back.
    public nonisolated func search(_ text: String, in thread: ThreadID? = nil) -> LiveValue<SearchResults> {
        let parts = parts
        let found = ServerResults()
        return LiveValue(hub: parts.store.changes) {
            $0.all || $0.search == ObjectIdentifier(found)
        } fetch: {
            let local = try await parts.store.read { try SearchQuery.run($0, text, thread) }
            guard let server = found.results else {
                // The reader gets the store's results first. The server's come as a change.
                found.fetch(text, thread, parts)
                return SearchResults(results: local)
            }
            let known = Set(server.results.map(\.id))
            let all = (server.results + local.filter { !known.contains($0.id) }).sorted {
                ($0.message.timestamp, $0.id.rawValue) > ($1.message.timestamp, $1.id.rawValue)
            }
            return SearchResults(results: all, state: server.state)
        }
    }
}

/// The server's results of one search. They are asked for once.
private final class ServerResults: Sendable {
    private enum State { case idle, running(Task<Void, Never>), done(SearchResults) }

    private let state = Locked(State.idle)

    /// It is nil until the server has answered, or could not be asked.
    var results: SearchResults? {
        state.withLock { if case .done(let results) = $0 { results } else { nil } }
    }

    func fetch(_ text: String, _ thread: ThreadID?, _ parts: Parts) {
        let finish: @Sendable (SearchResults) -> Void = { [weak self] results in
            guard let self else { return }
            state.withLock { $0 = .done(results) }
            parts.store.changes.publish(Changes(search: ObjectIdentifier(self)))
        }
        state.withLock { state in
            guard case .idle = state else { return }
            state = .running(Task { finish(await Self.results(text, thread, parts)) })
        }
    }

    private static func results(_ text: String, _ thread: ThreadID?, _ parts: Parts) async -> SearchResults {
        var found = SearchResults()
        var page: String?
        do {
            repeat {
                let answer = try await parts.connection.call(
                    .messages.search(text, in: thread, limit: 100, page: page))
                found.results += answer.results.map { SearchResult(message: $0.message, snippet: $0.snippet) }
                page = answer.next
            } while page != nil && found.results.count < SearchQuery.resultsMax
            found.state = page == nil ? .complete : .truncated
        } catch {
            found.state = .failed(error as? ParleyError ?? .noAnswer("the search was cancelled", cause: error))
        }
        return found
    }

    deinit {
        if case .running(let task) = state.withLock({ $0 }) { task.cancel() }
    }
}

private enum SearchQuery {
    static let resultsMax = 200

    static func run(_ db: Database, _ text: String, _ thread: ThreadID?) throws -> [SearchResult] {
        let words = text.split { !$0.isLetter && !$0.isNumber }
        guard !words.isEmpty else { return [] }
        // Each word in quotes is plain text to FTS5, and `*` makes it a beginning.
        let query = words.map { "\"\($0)\"*" }.joined(separator: " ")
        return try db.rows(
            """
            select m.data, snippet(message_words, 0, char(1), char(2), '…', 32) as snippet
            from message_words join message m on m.number = message_words.rowid
            where message_words match ? and (?2 is null or m.thread_id = ?2)
            order by json_extract(m.data, '$.timestamp') desc limit \(resultsMax)
            """, [query, thread?.rawValue]
        ).compactMap { row in
            row.decodeIfReadable(Message.self, "data").map {
                SearchResult(message: $0, snippet: escaped(row["snippet"]))
            }
        }
    }

    private static func escaped(_ snippet: String) -> String {
        let replaced: [(String, String)] = [
            ("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\u{1}", "<mark>"), ("\u{2}", "</mark>"),
        ]
        return replaced.reduce(snippet) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }
}
