// Messages that are longer than Parley accepts, and messages with more files than it accepts.
import Converters
import Domain
import Foundation
import TestSupport
import Testing

@Suite("Long messages", .timeLimit(.minutes(1)))
struct LongMessages {
    @Test("become several messages with ids of their own, and the report says so")
    func parts() throws {
        let directory = try TemporaryDirectory()
        let copy = try ConvertedSample.copy(.slack, into: directory)
        let text = String(repeating: "Nöbody hears this. ", count: 2_000)
        try replace("Nobody here", with: text, in: copy + "/secret/2023-11-14.json")
        let sample = try ConvertedSample(.slack, copy)
        let parts = try sample.data("message").filter { $0["payload"]?["text"]?.string?.contains("Nöbody") == true }
        #expect(parts.count == 3)
        #expect(parts.compactMap { $0["payload"]?["text"]?.string }.joined() == text)
        #expect(Set(parts.compactMap { $0["id"]?.string }).count == 3)
        #expect(Set(parts.compactMap { $0["created_at"]?.string }).count == 1)
        #expect(sample.report.changed.contains { $0.reason.contains("too long") && $0.count == 1 })
        #expect(try ArchiveCheck.mistakes(in: sample.lines) == [])
        let short = try ConvertedSample(.slack).data("message").compactMap { $0["id"]?.string }
        #expect(Set(parts.compactMap { $0["id"]?.string }).intersection(short).count == 1)
    }

    @Test("carry their files on in further messages")
    func files() throws {
        let directory = try TemporaryDirectory()
        let copy = try ConvertedSample.copy(.mattermost, into: directory)
        let names = (0..<25).map { "20231114/file-\($0).txt" }
        for name in names { try Data(name.utf8).write(to: URL(filePath: "\(copy)/data/\(name)")) }
        let list = names.map { "{\"path\":\"\($0)\"}" }.joined(separator: ",")
        try replace("{\"path\":\"20231114/note.txt\"}", with: list, in: copy + "/export.jsonl")
        let sample = try ConvertedSample(.mattermost, copy)
        #expect(try sample.data("attachment").count == 25)
        let counts = try sample.data("message").compactMap { $0["payload"]?["attachments"]?.array?.count }
        #expect(counts == [10, 10, 5])
        #expect(try ArchiveCheck.mistakes(in: sample.lines) == [])
    }

    @Test("have lines of at most 1 MiB, whatever the size of their files")
    func largeFile() throws {
        let directory = try TemporaryDirectory()
        let copy = try ConvertedSample.copy(.slack, into: directory)
        let bytes = Data((0..<1_300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try bytes.write(to: URL(filePath: copy + "/__uploads/F02/note.txt"))
        let sample = try ConvertedSample(.slack, copy)
        let pieces = try sample.data("attachment_data").compactMap { $0["data"]?.string }
        #expect(pieces.count == 3)
        #expect(pieces.reduce(Data()) { $0 + (Data(base64Encoded: $1) ?? Data()) } == bytes)
        #expect(try ArchiveCheck.mistakes(in: sample.lines) == [])
    }
}
