// Answers that must have everything committed before the request, on a node whose tail lags.
import Domain
import Store
import Synchronization
import TestSupport
import Testing

@testable import Log

@Suite("Catching up", .timeLimit(.minutes(1)))
struct CatchingUp {
    @Test("shows what another node has just stored, without a notification, in 50 of 50 attempts")
    func readsOthersWrites() async throws {
        let database = try await MigratedDatabase.create()
        let a = try await LogNode(conninfo: database)
        let deaf = try await LogNode(conninfo: database, channel: "parley_nothing")
        try await running([a, deaf]) {
            let people = try await People(2, in: a.store)
            let thread = try await people.group(people.users, in: a.store)
            let bob = Identity(user: people.users[1], session: .make())
            var cursor = try await a.store.now()
            // The mailbox opens: from now on the node answers from memory.
            _ = try await deaf.poll(bob, from: cursor, waitMs: 0)
            var staleCount = 0
            for number in 0..<50 {
                _ = try await a.writer.append(.text("\(number)", in: thread, by: people.users[0]))
                if case .events(let known, _, _) = try await deaf.poll(bob, from: cursor, waitMs: 0), known.isEmpty {
                    staleCount += 1
                }
                try await deaf.tail.catchUp()
                guard case .events(let events, let upTo, false) = try await deaf.poll(bob, from: cursor, waitMs: 0)
                else {
                    Issue.record("no events")
                    return
                }
                #expect(events.count == 1)
                cursor = upTo
            }
            // Otherwise the tail was never behind, and the test proves nothing.
            #expect(staleCount > 25)
        }
    }

    @Test("costs one read of the log for all simultaneous callers")
    func isShared() async throws {
        let node = try await LogNode(conninfo: try await MigratedDatabase.create())
        try await node.running {
            try await node.tail.catchUp()
            let before = node.client.statistics.totals.statementCount
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<500 { group.addTask { try await node.tail.catchUp() } }
                try await group.waitForAll()
            }
            // Callers during a read share the next one; a few more reads are the tail's own.
            #expect(node.client.statistics.totals.statementCount - before < 100)
        }
    }

    @Test("waits for the next read when a read is under way, which may miss recent events")
    func waitsForTheNext() async throws {
        let readBarrier = ReadBarrier()
        let notes = Notes()
        let wakes = AsyncStream.makeStream(of: Void.self)
        var woken = wakes.stream.makeAsyncIterator()
        func ask(_ name: String) -> Task<Void, any Error> {
            Task {
                try await readBarrier.wait { wakes.continuation.yield() }
                notes.add(name)
            }
        }
        let first = ask("first")
        await woken.next()
        var second: Task<Void, any Error>?
        try await readBarrier.serve {
            second = ask("second")
            await woken.next()
            notes.add("read")
        }
        try await first.value
        try await readBarrier.serve { notes.add("read again") }
        try await second?.value
        #expect(notes.all == ["read", "first", "read again", "second"])
    }

    @Test("fails with the read, and at once after the last read")
    func fails() async throws {
        struct Broken: Error {}
        let readBarrier = ReadBarrier()
        let wakes = AsyncStream.makeStream(of: Void.self)
        var woken = wakes.stream.makeAsyncIterator()
        let asking = Task { try await readBarrier.wait { wakes.continuation.yield() } }
        await woken.next()
        await #expect(throws: Broken.self) { try await readBarrier.serve { throw Broken() } }
        await #expect(throws: Broken.self) { try await asking.value }
        let late = Task { try await readBarrier.wait { wakes.continuation.yield() } }
        await woken.next()
        readBarrier.close()
        await #expect(throws: CancellationError.self) { try await late.value }
        await #expect(throws: CancellationError.self) { try await readBarrier.wait {} }
    }
}

private final class Notes: Sendable {
    private let notes = Mutex<[String]>([])
    var all: [String] { notes.withLock { $0 } }
    func add(_ note: String) { notes.withLock { $0.append(note) } }
}
