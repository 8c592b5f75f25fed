// Where a baseline's files are stored.
import Foundation
import TestSupport
import Testing

@testable import Bench

@Suite("A scratch directory", .timeLimit(.minutes(1)))
struct ScratchDirectories {
    @Test("is created where TMPDIR says, and is gone once removed")
    func place() throws {
        let parent = try TemporaryDirectory()
        let directory = try ScratchDirectory(environment: ["TMPDIR": parent.path])
        #expect(directory.path.hasPrefix(parent.path + "/parley-bench-"))
        try directory.write("text", to: "file")
        #expect(directory.read("file") == "text")
        directory.remove()
        #expect(try FileManager.default.contentsOfDirectory(atPath: parent.path).isEmpty)
    }

    @Test("is created in /tmp without it", arguments: [[:], ["TMPDIR": ""]])
    func usual(environment: [String: String]) throws {
        let directory = try ScratchDirectory(environment: environment)
        #expect(directory.path.hasPrefix("/tmp/parley-bench-"))
        directory.remove()
    }

    @Test("reports where it cannot be created")
    func nowhere() {
        #expect(throws: BenchFailure.self) { try ScratchDirectory(environment: ["TMPDIR": "/nowhere"]) }
    }
}
