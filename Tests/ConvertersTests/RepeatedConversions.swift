// A newer export of the same workspace keeps the ids of the older one.
import Converters
import Foundation
import TestSupport
import Testing

@Suite("Repeated conversions", .timeLimit(.minutes(1)))
struct RepeatedConversions {
    /// What a newer export has: one more message, and a changed name.
    private static let news: [ChatSystem: (file: String, old: String, new: String)] = [
        .slack: (
            "secret/2023-11-14.json", "[{\"type\"",
            "[{\"type\":\"message\",\"user\":\"U02\",\"text\":\"New\",\"ts\":\"1700000301.5\"},{\"type\""
        ),
        .mattermost: (
            "export.jsonl", "{\"type\":\"direct_channel\",\"direct_channel\":{\"members\":[\"ann\",\"bob\"],",
            "{\"type\":\"post\",\"post\":{\"team\":\"main\",\"channel\":\"ops\",\"user\":\"ann\",\"message\":\"New\","
                + "\"create_at\":1700000700000}}\n"
                + "{\"type\":\"direct_channel\",\"direct_channel\":{\"members\":[\"ann\",\"bob\"],"
        ),
        .zulip: (
            "messages-000002.json", "{\"id\": 107,",
            "{\"id\": 108, \"sender\": 10, \"recipient\": 33, \"content\": \"New\", \"date_sent\": 1700000900},"
                + " {\"id\": 107,"
        ),
        .rocketchat: (
            "rocketchat_message.json", "{\"_id\":\"m8\"",
            "{\"_id\":\"m9\",\"rid\":\"r2\",\"msg\":\"New\",\"ts\":{\"$date\":1700000900000},\"u\":{\"_id\":\"u2\"}}\n"
                + "{\"_id\":\"m8\""
        ),
        .matrix: (
            "export.json", "{\"type\": \"m.room.pinned_events\"",
            "{\"type\": \"m.room.message\", \"sender\": \"@bob:example.org\", \"event_id\": \"$17\","
                + " \"content\": {\"msgtype\": \"m.text\", \"body\": \"New\"}, \"origin_server_ts\": 1700000901000},"
                + " {\"type\": \"m.room.pinned_events\""
        ),
    ]

    @Test("keep all ids and add the new message", arguments: ChatSystem.allCases)
    func newer(system: ChatSystem) throws {
        let directory = try TemporaryDirectory()
        let copy = try ConvertedSample.copy(system, into: directory)
        let change = try #require(Self.news[system])
        try replace(change.old, with: change.new, in: copy + "/" + change.file)
        let older = try ConvertedSample(system)
        let newer = try ConvertedSample(system, copy)
        let added = Set(newer.lines.dropLast()).subtracting(older.lines)
        #expect(Set(older.lines.dropLast()).isSubset(of: newer.lines))
        #expect(added.contains { $0.contains("\"text\":\"New\"") })
        #expect(added.allSatisfy { $0.hasPrefix("{\"type\":\"message\"") || $0.hasPrefix("{\"type\":\"member\"") })
        #expect(try ArchiveCheck.mistakes(in: newer.lines) == [])
    }

    @Test("do not depend on the packing", arguments: ChatSystem.allCases)
    func packed(system: ChatSystem) throws {
        let directory = try TemporaryDirectory()
        let plain = try ConvertedSample(system)
        for name in ["export.tar.gz", "export.zip"] {
            let file = try Packing.pack(ConvertedSample.path(system), as: directory.path + "/" + name)
            #expect(try ConvertedSample(system, file).lines == plain.lines)
        }
    }

    @Test("leave nothing in the temporary directory, whether they succeed or fail")
    func temporaryFiles() throws {
        let directory = try TemporaryDirectory()
        let room = try TemporaryDirectory()
        let file = try Packing.pack(ConvertedSample.path(.slack), as: directory.path + "/export.zip")
        for system in [ChatSystem.slack, .zulip] {
            _ = try? Conversion.run(from: system, file: file, temporaryDirectory: room.path) { _ in }
            #expect(try FileManager.default.contentsOfDirectory(atPath: room.path) == [])
        }
    }
}
