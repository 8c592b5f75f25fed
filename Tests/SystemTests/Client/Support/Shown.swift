// What an app shows: lists and values of the client, followed as an app follows them.

import Foundation
import Parley
import Synchronization
import TestSupport

/// The library's `Attachment`: Testing has a type of this name, too.
typealias SentFile = Attachment

/// A list on the screen. It applies each change, and remembers every state that it has shown.
final class Shown<Row: Identifiable & Equatable & Sendable>: Sendable {
    private final class Screen: Sendable {
        let states = Mutex<[[Row]]>([])
    }

    private let screen = Screen()
    private let task: Task<Void, any Error>

    init<Changes: AsyncSequence & Sendable>(_ changes: Changes) where Changes.Element == ListChange<Row> {
        task = Task { [screen] in
            for try await change in changes {
                screen.states.withLock { states in
                    var rows = states.last ?? []
                    change.apply(to: &rows)
                    states.append(rows)
                }
            }
        }
    }

    deinit { task.cancel() }

    /// Every state that the list has shown, oldest first.
    var states: [[Row]] { screen.states.withLock { $0 } }
    var rows: [Row] { states.last ?? [] }

    /// Waits until the list shows this.
    @discardableResult
    func wait(_ what: String, within limit: Duration = .seconds(30), until test: ([Row]) -> Bool) async throws -> [Row]
    {
        do {
            return try await eventually(what, within: limit) {
                guard let rows = states.last, test(rows) else { return nil }
                return rows
            }
        } catch {
            throw TimedOut(description: "\(error); it shows \(rows.suffix(8))")
        }
    }

    /// Waits until the list ends, as it does when its client closes.
    func waitForEnd() async throws { try await task.value }
}

extension Shown where Row == TimelineRow {
    var texts: [String] { rows.map(\.text) }

    @discardableResult
    func wait(for texts: [String], within limit: Duration = .seconds(30)) async throws -> [Row] {
        try await wait("\(texts)", within: limit) { $0.map(\.text) == texts }
    }
}

extension TimelineRow {
    /// The row in a word: a message's text, `> ` before one that is not sent.
    var text: String {
        switch self {
        case .message(let message, _): message.isDeleted ? "(deleted)" : message.text ?? ""
        case .outgoing(let message): "> \(message.text ?? "")"
        case .divider: "---"
        case .hole: "..."
        }
    }

    var delivery: Delivery? { if case .message(_, let delivery) = self { delivery } else { nil } }
}

extension LiveValue {
    /// Follows the value until it passes a test.
    @discardableResult
    func wait(
        _ what: String, within limit: Duration = .seconds(30), until test: @escaping @Sendable (Value) -> Bool
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                for await value in self where test(value) { return value }
                return nil
            }
            group.addTask {
                try await Task.sleep(for: limit)
                throw TimedOut(description: "\(what): not within \(limit)")
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() ?? nil else { throw TimedOut(description: "\(what): it ended") }
            return value
        }
    }
}
