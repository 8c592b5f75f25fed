// Checks of attachments while one account has many pictures that take long to draw.
import Domain
import Foundation
import Linux
import TestSupport
import Testing
import Thumbnailing

@testable import Service

@Suite("Checks for many accounts", .timeLimit(.minutes(1)))
struct ChecksOfManyAccounts {
    /// A thumbnailer that draws nothing before the file `go` exists.
    private struct SlowThumbnailer {
        let directory: TemporaryDirectory
        var path: String { directory.path + "/parley-thumbnailer" }

        init() throws {
            directory = try TemporaryDirectory()
            let script = #"""
                #!/bin/sh
                PATH=/usr/bin:/bin
                echo start >>"${0%/*}/log"
                while [ ! -e "${0%/*}/go" ]; do sleep 0.02; done
                exit 2
                """#
            try Files.write(script + "\n", to: path, mode: 0o755, owner: nil)
        }

        var startCount: Int {
            (try? String(contentsOfFile: directory.path + "/log", encoding: .utf8))?.split(separator: "\n").count ?? 0
        }

        func go() throws { try Data().write(to: URL(filePath: directory.path + "/go")) }
    }

    @Test("let files of others overtake pictures, and draw one picture of an account at a time")
    func overtaking() async throws {
        let thumbnailer = try SlowThumbnailer()
        let setup = try await AttachmentSetup(thumbnailer: thumbnailer.path)
        let other = try await setup.account()
        try await setup.running {
            let pictures = try await (0..<6).asyncMap { _ in try await setup.upload(AttachmentSetup.dot) }
            let checks = pictures.map { id in Task { await setup.checker.check(id, of: AttachmentSetup.owner) } }
            try await eventually("a picture is drawn") { thumbnailer.startCount == 1 }
            // A file without a picture waits for none, not even of its own account.
            for owner in [other, AttachmentSetup.owner] {
                let file = try await setup.upload(Array("text".utf8), of: owner)
                await setup.checker.check(file, of: owner)
                #expect(try await setup.query("select state from attachments where id = '\(file)'") == "2")
            }
            // Nor does a picture of another account wait for the six.
            let picture = try await setup.upload(AttachmentSetup.dot, of: other)
            let check = Task { await setup.checker.check(picture, of: other) }
            try await eventually("the other's picture is drawn, too") { thumbnailer.startCount == 2 }
            try thumbnailer.go()
            for check in checks + [check] { await check.value }
            try await eventually("all are ready") {
                try await setup.query("select count(*) from attachments where state = 2") == "9"
            }
        }
        #expect(setup.metrics.failures.value == 0, "\(setup.lines.all)")
        withExtendedLifetime(thumbnailer.directory) {}
    }

    @Test("draw no thumbnail for an account that has used its processor time")
    func budget() async throws {
        let setup = try await AttachmentSetup()
        let other = try await setup.account()
        try await setup.running {
            // A debt, because tokens come back while the test runs.
            setup.rates.charge(.thumbnailsOfAccount, to: AttachmentSetup.owner, cost: 90_000)
            for (owner, thumbnail) in [(AttachmentSetup.owner, "f"), (other, "t")] {
                let id = try await setup.upload(AttachmentSetup.dot, of: owner)
                await setup.checker.check(id, of: owner)
                let row = "select state, width, thumbnail_digest is not null from attachments where id = '\(id)'"
                #expect(try await setup.query(row) == "2|1|\(thumbnail)")
            }
            #expect(setup.metrics.thumbnails[.limited] == 1 && setup.metrics.thumbnails[.drawn] == 1)
        }
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async throws -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}
