// Each system's sample against the files in Samples/expected/. UPDATE_CONVERSIONS=1 writes them.
import Converters
import Foundation
import TestSupport
import Testing

@Suite("Converting samples", .timeLimit(.minutes(1)))
struct ConvertingSamples {
    @Test("writes the expected lines", arguments: ChatSystem.allCases)
    func lines(system: ChatSystem) throws {
        try expect(try ConvertedSample(system).lines.joined(), in: "\(system.rawValue).ndjson")
    }

    @Test("reports everything that was left out or changed", arguments: ChatSystem.allCases)
    func report(system: ChatSystem) throws {
        let report = try ConvertedSample(system).report
        try expect(report.text, in: "\(system.rawValue).report.txt")
        try expect(report.json.compact + "\n", in: "\(system.rawValue).report.json")
    }

    @Test("writes the same archive twice", arguments: ChatSystem.allCases)
    func again(system: ChatSystem) throws {
        let (first, second) = (try ConvertedSample(system), try ConvertedSample(system))
        #expect(first.lines == second.lines)
        #expect(first.report == second.report)
    }

    @Test("writes other ids in another namespace", arguments: ChatSystem.allCases)
    func namespace(system: ChatSystem) throws {
        let ids = try ["a", "b"].map { namespace in
            try Set(ConvertedSample(system, namespace: namespace).data("message").compactMap { $0["id"]?.string })
        }
        #expect(!ids[0].isEmpty && ids[0].isDisjoint(with: ids[1]))
    }

    @Test("writes lines of the shapes that an import accepts", arguments: ChatSystem.allCases)
    func shapes(system: ChatSystem) throws {
        #expect(try ArchiveCheck.mistakes(in: ConvertedSample(system).lines) == [])
    }

    private func expect(_ text: String, in name: String) throws {
        let file = ConvertedSample.root + "/expected/" + name
        if ProcessInfo.processInfo.environment["UPDATE_CONVERSIONS"] == "1" {
            try text.write(toFile: file, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
    }
}
