// Hashing: calls that run at once, wait, are refused and are cancelled.

import Dispatch
import Synchronization
import TestBasics
import Testing

@testable import Credentials

/// Fast enough for tests: 0.1 ms.
let cheap = ScryptCost(logN: 4, r: 8, p: 1)

@Suite("The password hasher", .timeLimit(.minutes(1)))
struct HashingPasswords {
    @Test("recognizes the password, and no other")
    func verify() async throws {
        let hasher = PasswordHasher(cost: cheap)
        let stored = try await hasher.hash("correct horse", flow: "a")
        #expect(try await hasher.verify("correct horse", against: stored, flow: "a"))
        #expect(try await !hasher.verify("correct horse ", against: stored, flow: "a"))
        #expect(try await !hasher.verify("", against: stored, flow: "a"))
        #expect(try await hasher.verify("caf\u{e9}", against: hasher.hash("cafe\u{301}", flow: "a"), flow: "a"))
    }

    @Test("never makes the same hash twice")
    func salted() async throws {
        let hasher = PasswordHasher(cost: cheap)
        #expect(try await hasher.hash("same", flow: "a") != hasher.hash("same", flow: "a"))
    }

    @Test("verifies hashes of another cost and asks for new ones")
    func otherCost() async throws {
        let old = PasswordHasher(cost: cheap)
        let new = PasswordHasher(cost: ScryptCost(logN: 5, r: 8, p: 1))
        let stored = try await old.hash("password", flow: "a")
        #expect(try await new.verify("password", against: stored, flow: "a"))
        #expect(new.needsRehash(stored))
        #expect(try await !new.needsRehash(new.hash("password", flow: "a")))
        #expect(!new.needsRehash("not a hash"))
    }

    @Test("computes after a wrong password what a hash of a lower cost lacks, to an eighth of the current cost")
    func lowerCost() throws {
        let cost = ScryptCost(logN: 15, r: 8, p: 1)
        let rests = (9...16).map { cost.less(ScryptCost(logN: $0, r: 8, p: 1))?.r }
        #expect(rests == [8, 8, 7, 7, 6, 4, nil, nil])
        #expect(cost.less(ScryptCost(logN: 15, r: 8, p: 3)) == nil)
        #expect(ScryptCost(logN: 15, r: 8, p: 3).less(cost) == ScryptCost(logN: 15, r: 5, p: 3))
    }

    @Test("throws at a stored line that is no hash")
    func malformed() async {
        await #expect(throws: CredentialsError.malformedHash) {
            try await PasswordHasher(cost: cheap).verify("password", against: "plain", flow: "a")
        }
    }

    @Test("computes the same for a user that does not exist, and never finds a match")
    func dummy() async throws {
        let hasher = PasswordHasher(cost: cheap)
        let real = try PasswordHash(parsing: try await hasher.hash("password", flow: "a"))
        #expect(hasher.dummy.cost == real.cost)
        #expect(hasher.dummy.salt.count == real.salt.count)
        #expect(hasher.dummy.key.count == real.key.count)
        try await hasher.dummyVerify("password", flow: "a")
    }

    @Test("refuses calls when its line is full, and serves all in line")
    func busy() async throws {
        let hasher = PasswordHasher(cost: cheap, workerCount: 1, waitingCountMax: 2)
        let gate = DispatchSemaphore(value: 0)
        async let working: Void = hasher.run(flow: "a") { gate.wait() }
        try await eventually("one call works") { hasher.load == (busy: 1, waiting: 0) }
        async let second = hasher.hash("second", flow: "a")
        async let third = hasher.hash("third", flow: "a")
        try await eventually("two calls wait") { hasher.load == (busy: 1, waiting: 2) }
        await #expect(throws: CredentialsError.hasherBusy) { try await hasher.hash("one too many", flow: "a") }
        gate.signal()
        _ = try await (working, second, third)
        #expect(hasher.load == (busy: 0, waiting: 0))
    }

    @Test("serves a newcomer before a flow that is in line already and being served")
    func fair() async throws {
        let hasher = PasswordHasher(cost: cheap, workerCount: 1, waitingCountMax: 8)
        let gate = DispatchSemaphore(value: 0)
        let served = Served()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await hasher.run(flow: "a") { gate.wait() } }
            try await eventually("one call works") { hasher.load == (busy: 1, waiting: 0) }
            for (number, flow) in ["a", "a", "a", "b"].enumerated() {
                group.addTask { try await hasher.run(flow: flow) { served.flows.withLock { $0.append(flow) } } }
                try await eventually("call \(number) waits") { hasher.load == (busy: 1, waiting: number + 1) }
            }
            gate.signal()
            try await group.waitForAll()
        }
        #expect(served.flows.withLock { $0 } == ["b", "a", "a", "a"])
    }

    @Test("finds the right one of several hashes, and computes as many if there are none")
    func verifiesAny() async throws {
        let hasher = PasswordHasher(cost: cheap)
        let stored = [try await hasher.hash("one", flow: "a"), try await hasher.hash("two", flow: "a")]
        #expect(try await hasher.verify("two", againstAny: stored, count: 2, flow: "a") == stored[1])
        #expect(try await hasher.verify("one", againstAny: stored, count: 2, flow: "a") == stored[0])
        #expect(try await hasher.verify("three", againstAny: stored, count: 2, flow: "a") == nil)
        #expect(try await hasher.verify("one", againstAny: [], count: 2, flow: "a") == nil)
    }

    @Test("works on as many at once as it has workers")
    func parallel() async throws {
        let hasher = PasswordHasher(cost: cheap, workerCount: 2, waitingCountMax: 1)
        let gate = DispatchSemaphore(value: 0)
        async let first: Void = hasher.run(flow: "a") { gate.wait() }
        async let second: Void = hasher.run(flow: "a") { gate.wait() }
        async let third: Void = hasher.run(flow: "a") { gate.wait() }
        try await eventually("two calls work and one waits") { hasher.load == (busy: 2, waiting: 1) }
        for _ in 1...3 { gate.signal() }
        _ = try await (first, second, third)
    }

    @Test("removes a cancelled caller from the queue")
    func cancelled() async throws {
        let hasher = PasswordHasher(cost: cheap, workerCount: 1)
        let gate = DispatchSemaphore(value: 0)
        async let working: Void = hasher.run(flow: "a") { gate.wait() }
        try await eventually("one call works") { hasher.load == (busy: 1, waiting: 0) }
        let second = Task { try await hasher.hash("second", flow: "a") }
        try await eventually("one call waits") { hasher.load == (busy: 1, waiting: 1) }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(hasher.load == (busy: 1, waiting: 0))
        gate.signal()
        try await working
        #expect(hasher.load == (busy: 0, waiting: 0))
    }
}

/// Which flows were served, in order.
private final class Served: Sendable {
    let flows = Mutex<[String]>([])
}
