// Attachments and the virus scanner: a real clamd.
import Domain
import Foundation
import ServiceConfiguration
import Store
import TestSupport
import Testing

@testable import Service

@Suite("Scanning attachments", .serialized, .timeLimit(.minutes(1)))
struct ScanningAttachments {
    private let harmful = [UInt8](repeating: 1, count: 300_000) + Clamd.harmfulContent

    @Test("makes clean ones ready and refuses others: their bytes are gone, and the audit log has a row")
    func verdicts() async throws {
        let clamd = try await Clamd.start()
        let setup = try await AttachmentSetup(scanURL: clamd.socketURL)
        try await setup.running {
            let clean = try await setup.upload([1, 2, 3])
            await setup.checker.check(clean, of: AttachmentSetup.owner)
            #expect(try await setup.state(clean) == "ready")

            let refused = try await setup.upload(harmful)
            await setup.checker.check(refused, of: AttachmentSetup.owner)
            #expect(try await setup.state(refused) == "refused")
            let count = "select count(*) from attachment_chunks where attachment_id = '\(refused)'"
            #expect(try await setup.query(count) == "0")
            let audit = try await setup.query("select action from audit where action like 'attachment.refused%'")
            #expect(audit.contains(Clamd.signature))
            let lines = setup.lines.all.filter { $0.contains("an attachment is refused") }
            #expect(lines.count == 1 && lines[0].hasPrefix("warning: ") && lines[0].contains(Clamd.signature))
            #expect(setup.metrics.checked[.ready] == 1 && setup.metrics.checked[.refused] == 1)
        }
    }

    @Test("waits for a scanner that is down (closed)")
    func closed() async throws {
        let port = try Sockets.freePort()
        let setup = try await AttachmentSetup(scanURL: "clamd://127.0.0.1:\(port)")
        try await setup.running {
            let id = try await setup.upload(harmful)
            let other = try await setup.upload([1, 2, 3])
            await setup.checker.check(id, of: AttachmentSetup.owner)
            #expect(try await setup.state(id) == "checking")
            #expect(setup.metrics.checked[.postponed] > 0 && setup.metrics.scanFailures.value > 0)
            #expect(setup.lines.all.contains { $0.contains("it waits and is scanned again") })
            let clamd = try await Clamd.start(port: port)
            try await eventually("the scans") {
                let states = [try await setup.state(id), try await setup.state(other)]
                return states == ["refused", "ready"]
            }
            await clamd.stop()
        }
        #expect(setup.metrics.failures.value == 0, "\(setup.lines.all)")
    }

    @Test("continues without a scanner that is down (open)")
    func open() async throws {
        let setup = try await AttachmentSetup(scanURL: "clamd:///nonexistent.sock", fail: .open)
        try await setup.running {
            let id = try await setup.upload(harmful)
            await setup.checker.check(id, of: AttachmentSetup.owner)
            #expect(try await setup.state(id) == "ready")
            #expect(setup.lines.all.contains { $0.contains("it is ready without a scan") })
        }
    }

    @Test("refuses a file that is too large for the scanner (closed), or makes it ready (open)")
    func tooLarge() async throws {
        let clamd = try await Clamd.start(byteCountMax: 100_000)
        for (fail, state) in [(Settings.ScanFail.closed, "refused"), (.open, "ready")] {
            let setup = try await AttachmentSetup(scanURL: clamd.url, fail: fail)
            try await setup.running {
                let id = try await setup.upload([UInt8](repeating: 1, count: 1_000_000))
                await setup.checker.check(id, of: AttachmentSetup.owner)
                // The scanner's answer may be lost with the connection; then it is asked again.
                try await eventually(state) { try await setup.state(id) == state }
            }
        }
    }
}
