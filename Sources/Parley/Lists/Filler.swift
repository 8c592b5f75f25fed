// Fetches what a list lacks, again after a failure, until it is there.
import Foundation

/// Each thing is fetched by one task at a time. The tasks end with the list.
final class Filler: Sendable {
    private let thread: ThreadID
    private let parts: Parts
    private let running = Locked<[String: Task<Void, Never>]>([:])

    init(thread: ThreadID, parts: Parts) {
        self.thread = thread
        self.parts = parts
    }

    deinit {
        for task in running.withLock({ $0 }).values { task.cancel() }
    }

    /// Fetches the holes that a timeline shows.
    func fill(_ rows: [TimelineRow]) {
        for (index, row) in rows.enumerated() {
            guard case .hole(let range) = row else { continue }
            // The end that touches other messages comes first: readers look there.
            let end: RangeEnd = index + 1 < rows.count ? .upper : .lower
            start("\(range)") { [parts, thread] in try await parts.history.fill(thread.rawValue, range, from: end) }
        }
    }

    /// Fetches the members, if events carry their marks.
    func loadMembers() {
        start("members") { [parts, thread] in
            guard let data = try await parts.store.thread(thread), data.memberCount <= Member.followedMax else {
                return
            }
            try await parts.history.loadMembers(thread.rawValue)
        }
    }

    /// Tries until the work is done, or refused.
    func start(_ key: String, _ work: @escaping @Sendable () async throws -> Void) {
        let finish: @Sendable () -> Void = { [weak self] in self?.running.withLock { $0[key] = nil } }
        running.withLock { [store = parts.store] running in
            guard running[key] == nil else { return }
            running[key] = Task {
                var backoff = Backoff()
                while !Task.isCancelled {
                    do {
                        try await work()
                        break
                    } catch let error as ParleyError where error.isTemporary {
                        await store.changes.pause(backoff.failed(error))
                    } catch {
                        break
                    }
                }
                finish()
            }
        }
    }
}
