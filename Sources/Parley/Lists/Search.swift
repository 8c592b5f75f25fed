// Search: what this device has at once, then what the server finds.
import Foundation
import GRDB

/// A message that a search found.
public struct SearchResult: Sendable, Equatable, Identifiable {
    public var id: MessageID { message.id }
    public let message: Message
    /// A part of the text, with the matching words between `<mark>` and `</mark>`. The rest is HTML-escaped.
    public let snippet: String

    public init(message: Message, snippet: String) {
        self.message = message
        self.snippet = snippet
    }
}

extension ParleyClient {
    /// Finds messages in which every word of `text` begins a word, newest first: at once those in the store, and then
    /// those that only the server has. Without a connection the list stays as the store has it. The list ends after 200
    /// results; `call(.messages.search(…))` reads further pages.
    public nonisolated func search(_ text: String, in thread: ThreadID? = nil) -> LiveList<SearchResult> {
        let parts = parts
        let found = ServerResults()
        return LiveList(hub: parts.store.changes) {
            $0.all || $0.search == ObjectIdentifier(found)
        } fetch: { _ in
            let local = try await parts.store.read { try SearchQuery.run($0, text, thread) }
            guard let server = found.results else {
                // The reader gets the store's results first. The server's come as a change.
                found.fetch(text, thread, parts)
                return local
            }
            let known = Set(server.map(\.id))
            return (server + local.filter { !known.contains($0.id) }).sorted {
                ($0.message.timestamp, $0.id.rawValue) > ($1.message.timestamp, $1.id.rawValue)
            }
        }
    }
}

/// The server's results of one search. They are asked for once.
private final class ServerResults: Sendable {
    private enum State { case idle, running(Task<Void, Never>), done([SearchResult]) }

    private let state = Locked(State.idle)

    var results: [SearchResult]? {
        state.withLock { if case .done(let results) = $0 { results } else { nil } }
    }

    func fetch(_ text: String, _ thread: ThreadID?, _ parts: Parts) {
        let finish: @Sendable ([SearchResult]) -> Void = { [weak self] results in
            guard let self else { return }
            state.withLock { $0 = .done(results) }
            parts.store.changes.publish(Changes(search: ObjectIdentifier(self)))
        }
        state.withLock { state in
            guard case .idle = state else { return }
            state = .running(Task { finish((try? await Self.results(text, thread, parts)) ?? []) })
        }
    }

    deinit {
        if case .running(let task) = state.withLock({ $0 }) { task.cancel() }
    }

    private static func results(_ text: String, _ thread: ThreadID?, _ parts: Parts) async throws -> [SearchResult] {
        var results: [SearchResult] = []
        var page: String?
        repeat {
            let answer = try await parts.connection.call(
                .messages.search(text, in: thread, limit: 100, page: page))
            results += answer.results.map { SearchResult(message: $0.message, snippet: $0.snippet) }
            page = answer.next
        } while page != nil && results.count < SearchQuery.resultsMax
        return results
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
