// An installation with something of everything, for tests of archives.
import Foundation
import TestSupport
import Testing

/// A node with people, threads of all kinds, and files.
struct ArchiveGround: Sendable {
    static let operatorPerson = Person(
        id: "", username: "", password: "", session: "", token: "admin-of-the-archives")
    static let settings = ["PARLEY_ADMIN_TOKEN": operatorPerson.token]

    let database: String
    let node: Node
    let ann: Person
    let ben: Person
    let cat: Person
    /// The ids of attachments that messages use, with the digests of their bytes.
    let files: [String: String]
    let group: String

    var client: Client { node.client }

    init(settings: [String: String] = [:]) async throws {
        database = try await MigratedDatabase.create()
        node = try await Node.start(
            database: database, settings: Self.settings.merging(settings) { $1 })
        let client = node.client
        (ann, ben, cat) = (
            try await client.register("Ann"), try await client.register("Ben"), try await client.register("Cat")
        )
        let dan = try await client.register("Dan")
        group = try await client.thread("group", by: ann, with: [ben, dan])
        let direct = try await client.thread("direct", by: ben, with: [ann])
        let room = try await client.thread("room", by: cat, with: [])
        _ = try await client.thread("group", by: cat, with: [ann], invite: true)
        for number in 1...5 { _ = try await client.sent("Message \(number)", in: room, as: cat) }

        let picture = Data(try TestPictures.shared().bytes("orientation1.jpg"))
        let large = TestFile.random(1_500_000)
        let shown = try #require(try await client.uploaded(picture, name: "a.jpg", as: ann)["id"].string)
        let sent = try #require(try await client.uploaded(large.bytes, name: "b.bin", as: ben)["id"].string)
        _ = try await client.shared([shown], in: group, as: ann)
        _ = try await client.shared([sent], in: direct, as: ben)
        let image = try #require(try await client.uploaded(picture, name: "me.jpg", as: cat)["id"].string)
        try Self.expect(
            await client.call("PATCH", "/v1/users/me", ["profile_image": .string("attachment:\(image)")], as: cat))
        var digests = [sent: large.digest]
        for (id, person) in [(shown, ann), (image, cat)] {
            digests[id] = TestFile.digest(of: try await client.download(id, as: person).body)
        }
        files = digests
        try await Self.changes(client, group: group, direct: direct, ann, ben)
        try Self.expect(await client.call("DELETE", "/v1/threads/\(group)/members/me", as: dan))
    }

    /// Edits, deletions, reactions, receipts, hidden messages, blocks and settings.
    private static func changes(
        _ client: Client, group: String, direct: String, _ ann: Person, _ ben: Person
    ) async throws {
        let messages = "/v1/threads/\(group)/messages"
        let edited = try await client.sent("first", in: group, as: ann)
        for text in ["second", "third"] {
            try expect(
                await client.call("PATCH", "\(messages)/\(edited)", ["payload": ["text": .string(text)]], as: ann))
        }
        try expect(await client.call("PUT", "\(messages)/\(edited)/reactions/%F0%9F%91%8D", as: ben))
        let deleted = try await client.sent("a secret", in: group, as: ann)
        try expect(await client.call("DELETE", "\(messages)/\(deleted)?for=everyone", as: ann))
        let hidden = try await client.sent("not for me", in: group, as: ann)
        try expect(await client.call("DELETE", "\(messages)/\(hidden)?for=me", as: ben))
        let reply: JSON = [
            "id": .string(newID()), "payload": ["text": "an answer"], "reply_to": .string(edited),
            "mentions": [.string(ben.id)],
        ]
        try expect(await client.post(messages, reply, as: ann))
        try expect(await client.put("/v1/threads/\(group)/receipts", ["read": 3, "delivered": 4], as: ben))
        try expect(await client.call("PATCH", "/v1/threads/\(direct)/settings", ["pinned": true], as: ben))
        try expect(await client.put("/v1/users/me/blocks/\(ann.id)", [:], as: ben))
    }

    private static func expect(_ answer: Answer) throws {
        try #require((200..<300).contains(answer.status), "\(answer)")
    }

    /// The archive that the API writes.
    func export(_ query: String = "") async throws -> String {
        let answer = try await client.transfer(
            "GET", "/v1/admin/export\(query)", as: Self.operatorPerson, within: .seconds(60))
        try #require(answer.status == 200, "\(answer.text.prefix(500))")
        return answer.text
    }

    /// The lines of a type, as their data.
    static func data(_ type: String, in archive: String) throws -> [JSON] {
        try archive.split(separator: "\n").filter { $0.hasPrefix("{\"type\":\"\(type)\",") }
            .map { try JSON(parsing: Data($0.utf8))["data"] }
    }

    /// The digests of the originals in an archive, by id.
    static func digests(in archive: String) throws -> [String: String] {
        var bytes: [String: Data] = [:]
        for piece in try data("attachment_data", in: archive) where piece["variant"] == "original" {
            let id = piece["id"].string ?? ""
            bytes[id, default: Data()] += try #require(Data(base64Encoded: piece["data"].string ?? ""))
        }
        return bytes.mapValues { TestFile.digest(of: $0) }
    }
}
