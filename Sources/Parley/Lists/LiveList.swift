// Values and lists that follow the store. A reader asks for the next value when it is ready: whatever changed meanwhile
// arrives as one change, so a slow reader costs no memory and misses nothing.

/// A list as a sequence of changes: first a snapshot, then edits. It never throws, and ends when the client closes or
/// the reading task is cancelled. Each iteration starts with a snapshot of its own.
public struct LiveList<Row: Identifiable & Equatable & Sendable>: AsyncSequence, Sendable {
    public typealias Element = ListChange<Row>

    let hub: ChangeHub
    let interest: @Sendable (Changes) -> Bool
    /// Reads the rows. Gets those of the last time, so that it need not read unchanged rows again.
    let fetch: @Sendable ([Row]) async throws -> [Row]

    /// The present rows.
    public var current: [Row] {
        get async throws { try await fetch([]) }
    }

    public func makeAsyncIterator() -> Iterator {
        // The list listens before it reads, so no change falls between.
        Iterator(registration: hub.listen(to: interest), fetch: fetch)
    }

    public struct Iterator: AsyncIteratorProtocol {
        let registration: ChangeHub.Registration
        let fetch: @Sendable ([Row]) async throws -> [Row]
        private var shown: [Row]?

        init(registration: ChangeHub.Registration, fetch: @escaping @Sendable ([Row]) async throws -> [Row]) {
            self.registration = registration
            self.fetch = fetch
        }

        public mutating func next() async -> ListChange<Row>? {
            while true {
                if shown != nil, await !registration.signal.wait() { return nil }
                guard let rows = await persistently({ [fetch, shown] in try await fetch(shown ?? []) }) else {
                    return nil
                }
                guard let before = shown else {
                    shown = rows
                    return .snapshot(rows)
                }
                let edits = before.edits(to: rows)
                shown = rows
                if !edits.isEmpty { return .diff(edits) }
            }
        }
    }
}

/// A value as a sequence: first the present value, then each new one. It never throws, and ends like a `LiveList`.
public struct LiveValue<Value: Equatable & Sendable>: AsyncSequence, Sendable {
    public typealias Element = Value

    let hub: ChangeHub
    let interest: @Sendable (Changes) -> Bool
    let fetch: @Sendable () async throws -> Value

    public func makeAsyncIterator() -> Iterator {
        Iterator(registration: hub.listen(to: interest), fetch: fetch)
    }

    public struct Iterator: AsyncIteratorProtocol {
        let registration: ChangeHub.Registration
        let fetch: @Sendable () async throws -> Value
        private var shown: Value?

        init(registration: ChangeHub.Registration, fetch: @escaping @Sendable () async throws -> Value) {
            self.registration = registration
            self.fetch = fetch
        }

        public mutating func next() async -> Value? {
            while true {
                if shown != nil, await !registration.signal.wait() { return nil }
                guard let value = await persistently(fetch) else { return nil }
                guard value != shown else { continue }
                shown = value
                return value
            }
        }
    }

    /// The present value.
    public var current: Value {
        get async throws { try await fetch() }
    }
}

/// Reads from the store until it succeeds: a list outlives a full disk. Returns nil when the task is cancelled or the
/// store is closed.
private func persistently<Value>(_ fetch: () async throws -> Value) async -> Value? {
    while !Task.isCancelled {
        do {
            return try await fetch()
        } catch let error as ParleyError where error.kind == .closed {
            return nil
        } catch {
            try? await Task.sleep(for: .seconds(1))
        }
    }
    return nil
}
