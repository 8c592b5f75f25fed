// Nodes that share the checks of attachments, die in the middle of one, or meet an owner who deletes.
import Basics
import Domain
import Foundation
import Store
import TestSupport
import Testing

@testable import Service

@Suite("Nodes that check attachments", .timeLimit(.minutes(1)))
struct SharingChecks {
    private let bytes = [UInt8](repeating: 7, count: 600_000)

    @Test("check an upload while its request waits")
    func waits() async throws {
        let setup = try await AttachmentSetup()
        try await setup.running {
            let id = try await setup.upload(bytes)
            await setup.checker.check(id, of: AttachmentSetup.owner)
            #expect(try await setup.state(id) == "ready")
        }
    }

    @Test("check many uploads, each once")
    func many() async throws {
        let setup = try await AttachmentSetup()
        let other = try await AttachmentSetup(database: setup.database)
        try await setup.running {
            try await other.running {
                try await withThrowingTaskGroup { group in
                    for number in 0..<40 {
                        group.addTask {
                            let id = try await setup.upload(Array("file \(number)".utf8))
                            await (number.isMultiple(of: 2) ? setup : other).checker.check(
                                id, of: AttachmentSetup.owner)
                        }
                    }
                    try await group.waitForAll()
                }
                try await eventually("all ready") {
                    try await setup.query("select count(*) from attachments where state = 2") == "40"
                }
                // Of both nodes together, also while one counts after its commit.
                try await eventually("the metrics") {
                    setup.metrics.checked[.ready] + other.metrics.checked[.ready] == 40
                }
            }
        }
        #expect(
            setup.metrics.failures.value + other.metrics.failures.value == 0, "\(setup.lines.all + other.lines.all)")
    }

    @Test("find uploads that nobody waits for")
    func leftovers() async throws {
        let setup = try await AttachmentSetup()
        var ids: [AttachmentID] = []
        for _ in 0..<5 { ids.append(try await setup.upload(bytes)) }
        try await setup.running {
            for id in ids { try await eventually("ready") { try await setup.state(id) == "ready" } }
        }
    }

    @Test("finish what a dead node began, and refuse that node when it returns")
    func deadNode() async throws {
        let setup = try await AttachmentSetup()
        let id = try await setup.upload(bytes)
        let began = ContinuousClock.now
        let dead = try #require(try await setup.store.claimAttachment(id, leaseSeconds: 2))
        try await setup.store.putChunk([1, 2, 3], number: 0, of: .cleaned, dead)
        try await setup.store.putChunk([1, 2, 3], number: 0, of: .thumbnail, dead)
        try await setup.running {
            try await eventually("ready") { try await setup.state(id) == "ready" }
            #expect(ContinuousClock.now - began >= .seconds(2), "the lease holds")
            #expect(try await setup.served(id) == bytes)
            #expect(try await setup.info(id)["thumbnail"] as? Bool == false)
            #expect(try await setup.query("select count(*) from attachment_chunks where variant > 0") == "0")
            let problem = await #expect(throws: Problem.self) {
                try await setup.store.putChunk([9], number: 0, of: .cleaned, dead)
            }
            #expect(problem?.code == .uploadSuperseded)
            // A node that only slept finds out, too, and counts no failure.
            try await setup.processor.process(dead, in: HeldSlot {})
            #expect(setup.metrics.checked[.abandoned] == 1)
        }
        #expect(setup.metrics.failures.value == 0, "\(setup.lines.all)")
    }

    @Test("refuse a file in whose check five nodes died")
    func poison() async throws {
        let setup = try await AttachmentSetup()
        let id = try await setup.upload(bytes)
        for _ in 0..<5 {
            let job = try await setup.store.claimAttachment(id, leaseSeconds: 60)
            #expect(job != nil)
            _ = try await setup.query("update attachments set lease_until = now() - interval '1 second'")
        }
        try await setup.running {
            try await eventually("the refusal") { try await setup.state(id) == "refused" }
            // The line follows the commit.
            try await eventually("the line") {
                setup.lines.all.contains { $0.contains("5 nodes ended while they checked it") }
            }
        }
    }

    @Test("abandon the check of an upload that its owner deletes")
    func deleted() async throws {
        let setup = try await AttachmentSetup()
        let id = try await setup.upload([UInt8](repeating: 1, count: 5_000_000))
        let job = try #require(try await setup.store.claimAttachment(id, leaseSeconds: 60))
        try await setup.store.deleteAttachment(id, owner: AttachmentSetup.owner)
        _ = try await setup.store.sweepAttachments(limit: 10)
        try await setup.processor.process(job, in: HeldSlot {})
        #expect(setup.metrics.checked[.abandoned] == 1)
        await setup.close()
    }

    @Test("count a failure of the database, and try again when the claim has ended")
    func database() async throws {
        let setup = try await AttachmentSetup()
        _ = try await setup.query("alter function attachment_ready rename to attachment_ready_away")
        let id = try await setup.upload(bytes)
        try await setup.running {
            await setup.checker.check(id, of: AttachmentSetup.owner)
            #expect(try await setup.state(id) == "checking")
            #expect(setup.metrics.failures.value == 1)
            #expect(setup.lines.all.contains { $0.contains("checking an attachment failed; retrying in 30 s") })
            _ = try await setup.query("alter function attachment_ready_away rename to attachment_ready")
            #expect(try await setup.query("select checks from attachments") == "0")
            _ = try await setup.query("update attachments set lease_until = now()")
            try await eventually("ready") { try await setup.state(id) == "ready" }
        }
    }

    @Test("are released when a request is cancelled")
    func cancelled() async throws {
        let setup = try await AttachmentSetup()
        let id = try await setup.upload(bytes)
        // Nothing runs this checker, and its requests wait for longer than the test may take.
        let checker = AttachmentChecker(
            store: setup.store, processor: setup.processor, waitMax: .seconds(86_400), logger: setup.lines.logger)
        let refusals = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<AttachmentChecker.lineCountMax + 3 {
                group.addTask {
                    await checker.check(id, of: AttachmentSetup.owner)
                    refusals.add()
                }
            }
            // The line is full, and the last three requests do not wait.
            try await eventually("three refusals") { refusals.value == 3 }
            group.cancelAll()
            try await group.waitForAll()
        }
        await setup.close()
    }

    @Test("delete the bytes of what nothing uses")
    func sweep() async throws {
        let setup = try await AttachmentSetup()
        let id = try await setup.upload([UInt8](repeating: 1, count: 20_000_000))
        try await setup.store.deleteAttachment(id, owner: AttachmentSetup.owner)
        let sweep = AttachmentSweep(store: setup.store, metrics: setup.metrics, logger: setup.lines.logger)
        let running = Task { try await sweep.run() }
        try await eventually("the deletion") {
            try await setup.query("select count(*) from attachment_chunks") == "0"
        }
        running.cancel()
        _ = await running.result
        #expect(setup.metrics.swept.value > 0 && setup.metrics.sweepFailures.value == 0, "\(setup.lines.all)")
        await setup.close()
    }
}
