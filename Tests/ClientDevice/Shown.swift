// What an app shows: lists that the device follows by their changes for as long as it runs.

import Foundation
import Parley

/// The lists as they are now. A test compares them with the store: a wrong change of a list shows here.
final class Shown: @unchecked Sendable {
    // SAFETY: everything is read and written only while `lock` is held.
    private let lock = NSLock()
    private var rows: [InboxRow] = []
    private var timelines: [ThreadID: [TimelineRow]] = [:]
    private var wishes: AsyncStream<ThreadID>.Continuation?
    private static let timelineCountMax = 4

    var inbox: [InboxRow] { lock.withLock { rows } }
    var openTimelines: [ThreadID: [TimelineRow]] { lock.withLock { timelines } }

    func apply(_ change: ListChange<InboxRow>) { lock.withLock { change.apply(to: &rows) } }

    func apply(_ change: ListChange<TimelineRow>, in thread: ThreadID) {
        lock.withLock { change.apply(to: &timelines[thread, default: []]) }
    }

    /// Asks for a timeline to be opened.
    func wish(_ thread: ThreadID) { lock.withLock { _ = wishes?.yield(thread) } }

    /// The threads that are wished for, each once, and only some.
    func wished() -> AsyncStream<ThreadID> {
        let (stream, continuation) = AsyncStream.makeStream(of: ThreadID.self)
        lock.withLock { wishes = continuation }
        return stream
    }

    /// Makes room for a timeline. Returns false if it is open already, or there is no room.
    func open(_ thread: ThreadID) -> Bool {
        lock.withLock {
            guard timelines[thread] == nil, timelines.count < Self.timelineCountMax else { return false }
            timelines[thread] = []
            return true
        }
    }
}

extension Device {
    func followInbox() async {
        for await change in parley.inbox() { shown.apply(change) }
    }

    func followTimelines() async {
        await withDiscardingTaskGroup { group in
            for await thread in shown.wished() where shown.open(thread) {
                group.addTask {
                    for await change in parley.thread(thread).timeline(around: .newest) {
                        shown.apply(change, in: thread)
                    }
                }
            }
        }
    }
}

extension AsyncSequence where Failure == Never {
    /// The rows of a list now.
    func snapshot<Row>() async -> [Row] where Element == ListChange<Row> {
        for await change in self {
            var rows: [Row] = []
            change.apply(to: &rows)
            return rows
        }
        return []
    }
}
