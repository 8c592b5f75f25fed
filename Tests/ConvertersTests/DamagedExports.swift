// Exports that are cut off, damaged, incomplete or hostile: the error names the file and the place.
import Converters
import Foundation
import TestSupport
import Testing

@Suite("Damaged exports", .timeLimit(.minutes(1)))
struct DamagedExports {
    private static let damages: [(ChatSystem, String, String, String, String)] = [
        (.slack, "general/2023-11-14.json", "\"edited\":", "\"edited\"", "general/2023-11-14.json, [2]: "),
        (
            .slack, "general/2023-11-14.json", "\"ts\": \"1700000200.000200\"", "\"ts\": \"soon\"",
            "a message without ts"
        ),
        (.slack, "users.json", "{\"id\": \"U02\"", "{\"no\": \"U02\"", "users.json, [1]: a user without id"),
        (.mattermost, "export.jsonl", "\"type\":\"bot\",", "\"type\":\"bot\"", "export.jsonl, line 9: not valid JSON"),
        (.mattermost, "export.jsonl", "\"version\":1", "\"version\":2", "line 1: the version of the export is not 1"),
        (
            .zulip, "realm.json", "{\"id\": 33, \"type\": 1, \"type_id\": 11}, ", "",
            "messages-000002.json, zerver_message[0]"
        ),
        (.zulip, "realm.json", "{\"id\": 2, \"user_profile\"", "{\"id\": 2 \"user_profile\"", "zerver_subscription[1]"),
        (
            .rocketchat, "rocketchat_message.json", "\"rid\":\"r2\"", "\"no\":\"r2\"",
            "rocketchat_message.json, line 5: "
        ),
        (
            .matrix, "export.json", "\"sender\": \"@bob:example.org\", ", "",
            "export.json, messages[2]: an event without"
        ),
    ]

    @Test("are refused with the file and the place", arguments: damages.indices)
    func damage(index: Int) throws {
        let (system, file, old, new, expected) = Self.damages[index]
        let directory = try TemporaryDirectory()
        let copy = try ConvertedSample.copy(system, into: directory)
        try replace(old, with: new, in: copy + "/" + file)
        expect(system, copy, expected)
    }

    @Test(
        "are refused if a file is cut off",
        arguments: [
            (ChatSystem.slack, "general/2023-11-14.json"), (.mattermost, "export.jsonl"), (.zulip, "realm.json"),
            (.rocketchat, "users.json"), (.matrix, "export.json"),
        ])
    func cut(system: ChatSystem, file: String) throws {
        let directory = try TemporaryDirectory()
        let copy = try ConvertedSample.copy(system, into: directory)
        let bytes = try Data(contentsOf: URL(filePath: copy + "/" + file))
        try bytes.prefix(bytes.count * 2 / 3).write(to: URL(filePath: copy + "/" + file))
        expect(system, copy, file)
    }

    @Test(
        "are refused if a file is missing",
        arguments: [
            (ChatSystem.slack, "users.json"), (.mattermost, "export.jsonl"), (.zulip, "realm.json"),
            (.rocketchat, "rocketchat_room.json"), (.matrix, "export.json"),
        ])
    func missing(system: ChatSystem, file: String) throws {
        let directory = try TemporaryDirectory()
        let copy = try ConvertedSample.copy(system, into: directory)
        try FileManager.default.removeItem(atPath: copy + "/" + file)
        expect(system, copy, " has n")
    }

    @Test(
        "are refused if an entry of an archive leads out of it",
        arguments: ["../users.json", "/tmp/users.json", "a/../../b"])
    func traversal(name: String) throws {
        let directory = try TemporaryDirectory()
        for (file, bytes) in [("export.tar", Packing.tar(name)), ("export.zip", Packing.zip(name))] {
            let path = directory.path + "/" + file
            try Data(bytes).write(to: URL(filePath: path))
            expect(.slack, path, "\(name) leads out of the export.")
        }
    }

    @Test("are refused if an archive has a link")
    func links() throws {
        let directory = try TemporaryDirectory()
        let archives = [
            ("export.tar", Packing.tar("users.json", kind: "2", link: "/etc/passwd")),
            ("export.zip", Packing.zip("users.json", mode: 0o120777)),
        ]
        for (file, bytes) in archives {
            let path = directory.path + "/" + file
            try Data(bytes).write(to: URL(filePath: path))
            expect(.slack, path, "is a link or a device")
        }
    }

    @Test("are refused if an archive has a device, or a line of its listing cannot be read")
    func devices() throws {
        let directory = try TemporaryDirectory()
        for kind in "346" {
            let path = directory.path + "/export.tar"
            try Data(Packing.tar("users.json", kind: kind)).write(to: URL(filePath: path))
            expect(.slack, path, "is a link or a device")
        }
    }

    @Test("are refused if a file unpacks to more than the archive says")
    func bombs() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/export.zip"
        try Packing.bomb(claimedByteCount: 10, byteCount: 400_000_000, as: path)
        let began = try Self.freeByteCount(directory.path)
        expect(.slack, path, "unpacks to more than it says")
        // Nothing stays.
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["export.zip"])
        #expect(try Self.freeByteCount(directory.path) > began - 200_000_000)
    }

    private static func freeByteCount(_ path: String) throws -> Int {
        let values = try FileManager.default.attributesOfFileSystem(forPath: path)
        return (values[.systemFreeSize] as? Int) ?? 0
    }

    @Test("do not reach files outside of their directory")
    func linksInDirectories() throws {
        let directory = try TemporaryDirectory()
        let copy = try ConvertedSample.copy(.slack, into: directory)
        try Data("[]".utf8).write(to: URL(filePath: directory.path + "/outside.json"))
        try FileManager.default.removeItem(atPath: copy + "/users.json")
        try FileManager.default.createSymbolicLink(atPath: copy + "/users.json", withDestinationPath: "../outside.json")
        expect(.slack, copy, "users.json leads out of the export.")
    }

    @Test("name no file outside, whatever their texts say")
    func pathsInTexts() throws {
        let directory = try TemporaryDirectory()
        let copy = try ConvertedSample.copy(.mattermost, into: directory)
        try replace("20231114/note.txt", with: "../../secret.txt", in: copy + "/export.jsonl")
        try Data("secret".utf8).write(to: URL(filePath: directory.path + "/secret.txt"))
        let lines = (try? ConvertedSample(.mattermost, copy).lines) ?? []
        #expect(!lines.contains { $0.contains("attachment_data") })
    }

    private func expect(_ system: ChatSystem, _ path: String, _ text: String) {
        do {
            _ = try ConvertedSample(system, path)
            Issue.record("\(path) was converted")
        } catch let error as ConversionError {
            #expect(error.description.contains(text), "\(error)")
        } catch {
            Issue.record("\(error)")
        }
    }
}
