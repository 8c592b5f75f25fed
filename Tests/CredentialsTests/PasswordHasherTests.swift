// Hashing at once, in line, refused and cancelled; what a hasher tells of a stored hash.

import Dispatch
import Testing

@testable import Credentials

/// Fast enough for tests: 0.1 ms.
let cheap = ScryptCost(logN: 4, r: 8, p: 1)

@Suite("The password hasher")
struct PasswordHasherTests {
    @Test("knows the password again, and no other")
    func verify() async throws {
        let hasher = PasswordHasher(cost: cheap)
        let stored = try await hasher.hash("correct horse")
        #expect(try await hasher.verify("correct horse", against: stored))
        #expect(try await !hasher.verify("correct horse ", against: stored))
        #expect(try await !hasher.verify("", against: stored))
        #expect(try await hasher.verify("caf\u{e9}", against: hasher.hash("cafe\u{301}")))
    }

    @Test("never makes the same hash twice")
    func salted() async throws {
        let hasher = PasswordHasher(cost: cheap)
        #expect(try await hasher.hash("same") != hasher.hash("same"))
    }

    @Test("reads hashes of another cost and asks for new ones")
    func rehash() async throws {
        let old = PasswordHasher(cost: cheap)
        let new = PasswordHasher(cost: ScryptCost(logN: 5, r: 8, p: 1))
        let stored = try await old.hash("password")
        #expect(try await new.verify("password", against: stored))
        #expect(new.needsRehash(stored))
        #expect(try await !new.needsRehash(new.hash("password")))
        #expect(!new.needsRehash("not a hash"))
    }

    @Test("throws at a stored line that is no hash")
    func malformed() async {
        await #expect(throws: CredentialsError.malformedHash) {
            try await PasswordHasher(cost: cheap).verify("password", against: "plain")
        }
    }

    @Test("takes as long for a user who doesn't exist: the same computation, never a match")
    func dummy() async throws {
        let hasher = PasswordHasher(cost: cheap)
        let real = try PasswordHash(parsing: try await hasher.hash("password"))
        #expect(hasher.dummy.cost == real.cost)
        #expect(hasher.dummy.salt.count == real.salt.count)
        #expect(hasher.dummy.key.count == real.key.count)
        try await hasher.dummyVerify("password")
    }

    @Test("refuses past its line, and serves all who are in it")
    func busy() async throws {
        let hasher = PasswordHasher(cost: cheap, workerCount: 1, waitingCountMax: 2)
        let gate = DispatchSemaphore(value: 0)
        async let working: Void = hasher.run { gate.wait() }
        try await eventually { hasher.load == (busy: 1, waiting: 0) }
        async let second = hasher.hash("second")
        async let third = hasher.hash("third")
        try await eventually { hasher.load == (busy: 1, waiting: 2) }
        await #expect(throws: CredentialsError.hasherBusy) { try await hasher.hash("one too many") }
        gate.signal()
        _ = try await (working, second, third)
        #expect(hasher.load == (busy: 0, waiting: 0))
    }

    @Test("works on as many at once as it has workers")
    func parallel() async throws {
        let hasher = PasswordHasher(cost: cheap, workerCount: 2, waitingCountMax: 1)
        let gate = DispatchSemaphore(value: 0)
        async let first: Void = hasher.run { gate.wait() }
        async let second: Void = hasher.run { gate.wait() }
        async let third: Void = hasher.run { gate.wait() }
        try await eventually { hasher.load == (busy: 2, waiting: 1) }
        for _ in 1...3 { gate.signal() }
        _ = try await (first, second, third)
    }

    @Test("lets a cancelled caller out of the line")
    func cancelled() async throws {
        let hasher = PasswordHasher(cost: cheap, workerCount: 1)
        let gate = DispatchSemaphore(value: 0)
        async let working: Void = hasher.run { gate.wait() }
        try await eventually { hasher.load == (busy: 1, waiting: 0) }
        let second = Task { try await hasher.hash("second") }
        try await eventually { hasher.load == (busy: 1, waiting: 1) }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(hasher.load == (busy: 1, waiting: 0))
        gate.signal()
        try await working
        #expect(hasher.load == (busy: 0, waiting: 0))
    }
}

/// Asks again until it is so, for at most ten seconds.
private func eventually(_ isSo: () -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(10)
    while !isSo() {
        try #require(ContinuousClock.now < deadline, "not within ten seconds")
        try await Task.sleep(for: .milliseconds(1))
    }
}

@Suite("Work slots")
struct WorkSlotsTests {
    @Test("let in up to their number, line up to the limit, refuse the rest")
    func limits() {
        var slots = WorkSlots<String>(slotCount: 2, waitingCountMax: 1)
        #expect(slots.enter(id: 1, "a") == .go)
        #expect(slots.enter(id: 2, "b") == .go)
        #expect(slots.enter(id: 3, "c") == .wait)
        #expect(slots.enter(id: 4, "d") == .refused)
        #expect(slots.leave() == "c")
        #expect(slots.busyCount == 2)
        #expect(slots.leave() == nil)
        #expect(slots.leave() == nil)
        #expect(slots.busyCount == 0)
    }

    @Test("serve in order and forget who gave up")
    func order() {
        var slots = WorkSlots<String>(slotCount: 1, waitingCountMax: 3)
        _ = slots.enter(id: 1, "a")
        for (id, name) in [(2, "b"), (3, "c"), (4, "d")] { #expect(slots.enter(id: UInt64(id), name) == .wait) }
        #expect(slots.giveUp(id: 3) == "c")
        #expect(slots.giveUp(id: 3) == nil)
        #expect(slots.leave() == "b")
        #expect(slots.leave() == "d")
        #expect(slots.leave() == nil)
    }
}
