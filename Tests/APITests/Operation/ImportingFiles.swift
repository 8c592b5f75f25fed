// Files of archives: what an archive says of them, and what their bytes are.
import Basics
import Converters
import Cryptography
import Domain
import Foundation
import TestSupport
import Testing

@Suite("Importing files", .timeLimit(.minutes(1)))
struct ImportingFiles {
    private func send(_ lines: [String]) async throws -> Reply {
        try await Client(token: TestNode.adminToken).send(
            "POST", "/v1/admin/import", body: lines.joined(separator: "\n"), type: "application/x-ndjson")
    }

    private func signIn(_ user: some CustomStringConvertible) async throws -> Client {
        let reply = try await Client(token: TestNode.adminToken).post("/v1/admin/users/\(user)/sessions")
        return try await Client(token: reply.string("session.token"))
    }

    /// A group of two people, and files in it, each of one sender.
    private struct Archive {
        let ann = UserID.make()
        let bob = UserID.make()
        let group = ThreadID.make()
        private(set) var lines: [String] = []

        init() {
            for user in [ann, bob] {
                add("user", #""id":"\#(user)","name":"Someone","created_at":"2020-01-01T00:00:00Z""#)
            }
            add("thread", #""id":"\#(group)","kind":"group","title":"Files","created_at":"2020-01-01T00:00:00Z""#)
            for user in [ann, bob] { add("member", #""thread_id":"\#(group)","user_id":"\#(user)""#) }
        }

        mutating func add(_ type: String, _ data: String) { lines.append(SampleArchive.line(type, data)) }

        mutating func addFile(
            _ bytes: [UInt8], id: AttachmentID = .make(), owner: UserID? = nil, more: String = ""
        ) -> AttachmentID {
            add(
                "attachment",
                #""id":"\#(id)","owner_id":"\#(owner ?? ann)","name":"a","size":\#(bytes.count)"#
                    + #","sha256":"\#(SHA256.digest(bytes).hexadecimal)","created_at":"2020-01-01T00:00:00Z"\#(more)"#)
            addBytes(bytes, of: id)
            return id
        }

        mutating func addBytes(_ bytes: [UInt8], of id: AttachmentID, variant: String = "original") {
            let data = Data(bytes).base64EncodedString()
            add("attachment_data", #""id":"\#(id)","variant":"\#(variant)","n":0,"data":"\#(data)""#)
        }

        mutating func addMessage(with id: AttachmentID, by sender: UserID? = nil) {
            add(
                "message",
                #""id":"\#(MessageID.make())","thread_id":"\#(group)","sender_id":"\#(sender ?? ann)""#
                    + #","type":"message","payload":{"attachments":[{"id":"\#(id)"}]}"#
                    + #","created_at":"2020-01-01T00:00:00Z""#)
        }
    }

    private static let html = Array("<html><script>alert(1)</script>".utf8)

    @Test(
        "serves each as the type of its bytes, whatever the archive says",
        arguments: [nil, "text/html", "image/svg+xml", "image/png"])
    func types(claimed: String?) async throws {
        var archive = Archive()
        let more = claimed.map { #","media_type":"\#($0)""# } ?? ""
        let files: [(id: AttachmentID, bytes: [UInt8], type: String)] = [
            (archive.addFile(Self.html, more: more), Self.html, "application/octet-stream"),
            (archive.addFile([], more: more), [], "application/octet-stream"),
            (archive.addFile(onePixel, more: more), onePixel, "image/png"),
        ]
        for file in files { archive.addMessage(with: file.id) }
        let report = try await send(archive.lines)
        #expect(report.status == 200 && report["added.attachments"]?.integer == 3, "\(report.text)")
        let bob = try await signIn(archive.bob)
        for file in files {
            let got = try await bob.get("/v1/attachments/\(file.id)")
            #expect(got.status == 200 && got.body == file.bytes, "\(got.text)")
            #expect(got.headers["content-type"] == file.type)
            let isInline = got.headers["content-disposition"]?.hasPrefix("inline") == true
            #expect(isInline == (file.type == "image/png"))
        }
        let page = try await bob.get("/v1/threads/\(archive.group)/messages")
        let shown = (page["messages"]?.array ?? []).map { $0["payload"]?["attachments"]?.array?.first }
        #expect(shown.map { $0?["content_type"]?.string } == files.map(\.type))
    }

    @Test("serves those of a Slack export, also of types that nothing recognises")
    func converted() async throws {
        let directory = try TemporaryDirectory()
        func write(_ text: String, _ path: String) throws {
            let url = URL(filePath: directory.path + "/" + path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
        let names = ["a.html", "b.txt", "c.csv", "d.pdf", "e.gif"]
        try write(
            #"[{"id":"U1","name":"ann","profile":{"real_name":"Ann"}},{"id":"U2","name":"bob","profile":{}}]"#,
            "users.json")
        try write(#"[{"id":"C1","name":"files","created":1700000000,"members":["U1","U2"]}]"#, "channels.json")
        let files = names.map { #"{"id":"\#($0.uppercased())","name":"\#($0)","url_private":"https://x.example"}"# }
        try write(
            #"[{"type":"message","user":"U1","text":"x","ts":"1700000100.000000","#
                + #""files":[\#(files.joined(separator: ","))]}]"#,
            "files/2023-11-14.json")
        for name in names {
            let head = name == "d.pdf" ? "%PDF-" : name == "e.gif" ? "GIF89a" : "<p>"
            try write(head + name, "__uploads/\(name.uppercased())/\(name)")
        }
        var lines: [String] = []
        _ = try Conversion.run(from: .slack, file: directory.path, namespace: "\(UserID.make())") { line in
            lines.append(String(decoding: line.dropLast(), as: UTF8.self))
        }
        let report = try await send(lines)
        #expect(report.status == 200 && report["added.attachments"]?.integer == 5, "\(report.text)")
        let people = lines.filter { $0.contains(#""type":"user""#) }
        let ann = try #require(people.first.map { try JSONReader.read(Array($0.utf8)) }?["data"]?["id"]?.string)
        let client = try await signIn(ann)
        let attachments = try lines.filter { $0.contains(#""type":"attachment""#) }
            .map { try JSONReader.read(Array($0.utf8))["data"] }
        var types: [String: String] = [:]
        for attachment in attachments {
            let got = try await client.get("/v1/attachments/\(attachment?["id"]?.string ?? "")")
            let name = attachment?["name"]?.string ?? ""
            #expect(got.status == 200 && got.text.hasSuffix(name), "\(name): \(got.text)")
            types[name] = got.headers["content-type"]
        }
        let unknown = "application/octet-stream"
        #expect(
            types == [
                "a.html": unknown, "b.txt": unknown, "c.csv": unknown, "d.pdf": "application/pdf", "e.gif": "image/gif",
            ])
    }

    @Test("shows nobody a file that exists already, unless the archive has its bytes")
    func existing() async throws {
        let (victim, attacker) = (try await Person.make("Victim"), try await Person.make("Attacker"))
        let bytes = someBytes(300)
        let file = try #require(AttachmentID(parsing: try await victim.file(bytes)))
        let (owner, other) = (
            try #require(UserID(parsing: victim.id)), try #require(UserID(parsing: attacker.id))
        )
        func archive(_ files: (inout Archive) -> Void) -> [String] {
            var archive = Archive()
            for user in [owner, other] {
                archive.add("member", #""thread_id":"\#(archive.group)","user_id":"\#(user)""#)
            }
            files(&archive)
            archive.addMessage(with: file, by: owner)
            return archive.lines
        }
        let digest = SHA256.digest(bytes).hexadecimal
        let forged = [
            archive { _ in },
            archive { archive in _ = archive.addFile(someBytes(300), id: file, owner: owner) },
            archive { archive in
                archive.add(
                    "attachment",
                    #""id":"\#(file)","owner_id":"\#(owner)","name":"a","size":300,"sha256":"\#(digest)""#
                        + #","created_at":"2020-01-01T00:00:00Z""#)
            },
        ]
        for lines in forged {
            let reply = try await send(lines)
            #expect(reply.status == 422 && reply.text.contains("\(file)"), "\(reply.text)")
            #expect(try await attacker.client.get("/v1/attachments/\(file)").status == 404)
        }
        // The same of pictures of people and threads, which are left out.
        var pictures = Archive()
        pictures.add(
            "user",
            #""id":"\#(UserID.make())","name":"X","profile_image":"attachment:\#(file)""#
                + #","created_at":"2020-01-01T00:00:00Z""#)
        let left = try await send(pictures.lines)
        #expect(left.status == 200 && left["left_out_count"]?.integer == 1, "\(left.text)")
        #expect(try await attacker.client.get("/v1/attachments/\(file)").status == 404)

        let honest = try await send(
            archive { archive in _ = archive.addFile(bytes, id: file, owner: owner) })
        #expect(honest.status == 200 && honest["existing.attachments"]?.integer == 1, "\(honest.text)")
        #expect(try await attacker.client.get("/v1/attachments/\(file)").body == bytes)
    }

    @Test("removes the metadata of pictures, in any pieces, and recognises the archive's bytes")
    func pictures() async throws {
        let dirty = onePixel + Array("where I live".utf8)
        var archive = Archive()
        let whole = archive.addFile(dirty, more: #","width":9,"height":9"#)
        let broken = archive.addFile(Array(dirty.prefix(40)), more: #","width":9,"height":9"#)
        let pieces = AttachmentID.make()
        archive.add(
            "attachment",
            #""id":"\#(pieces)","owner_id":"\#(archive.ann)","name":"a","size":\#(dirty.count)"#
                + #","sha256":"\#(SHA256.digest(dirty).hexadecimal)","created_at":"2020-01-01T00:00:00Z""#)
        for (number, bytes) in [dirty.prefix(3), dirty[3..<50], dirty.dropFirst(50)].enumerated() {
            let data = Data(bytes).base64EncodedString()
            archive.add(
                "attachment_data", #""id":"\#(pieces)","variant":"original","n":\#(number),"data":"\#(data)""#)
        }
        for file in [whole, pieces, broken] { archive.addMessage(with: file) }
        let report = try await send(archive.lines)
        #expect(report.status == 200 && report["added.attachments"]?.integer == 3, "\(report.text)")
        let bob = try await signIn(archive.bob)
        for file in [whole, pieces] {
            let got = try await bob.get("/v1/attachments/\(file)")
            #expect(got.body == onePixel && got.headers["etag"] == "\"\(hexadecimalDigest(onePixel))\"")
        }
        #expect(try await bob.get("/v1/attachments/\(broken)").body == Array(dirty.prefix(40)))
        let page = try await bob.get("/v1/threads/\(archive.group)/messages")
        let shown = (page["messages"]?.array ?? []).map { $0["payload"]?["attachments"]?.array?.first }
        #expect(shown.map { $0?["size"]?.integer } == [Int64(onePixel.count), Int64(onePixel.count), 40])
        #expect(shown.map { $0?["width"]?.integer } == [1, 1, nil])
        let counted = try await Psql.run(
            "select sum(stored_bytes) from attachments where owner_id = '\(archive.ann)'",
            conninfo: TestNode.shared().database)
        #expect(counted == "\(2 * onePixel.count + 40)")

        // The same again, and the file in another thread of another archive: the bytes are those of the archive.
        #expect(try await send(archive.lines)["existing.attachments"]?.integer == 3)
        var other = Archive()
        _ = other.addFile(dirty, id: whole)
        other.addMessage(with: whole)
        let again = try await send(other.lines)
        #expect(again.status == 200, "\(again.text)")
        #expect(try await signIn(other.bob).get("/v1/attachments/\(whole)").body == onePixel)
    }

    @Test("removes the metadata of thumbnails, and refuses those that are no pictures")
    func thumbnails() async throws {
        func archive(_ thumbnail: [UInt8]) -> (archive: Archive, file: AttachmentID) {
            var archive = Archive()
            let file = archive.addFile(
                onePixel,
                more: #","thumbnail":{"type":"text/html","size":\#(thumbnail.count)"#
                    + #","sha256":"\#(SHA256.digest(thumbnail).hexadecimal)"}"#)
            archive.addBytes(thumbnail, of: file, variant: "thumbnail")
            archive.addMessage(with: file)
            return (archive, file)
        }
        for bytes in [Self.html, Array(onePixel.prefix(40)), Array("GIF89a".utf8)] {
            let refused = try await send(archive(bytes).archive.lines)
            #expect(refused.status == 422 && refused.text.contains("JPEG, PNG or WebP"), "\(refused.text)")
        }
        let (good, file) = archive(onePixel + Array("where I live".utf8))
        let report = try await send(good.lines)
        #expect(report.status == 200, "\(report.text)")
        let got = try await signIn(good.bob).get("/v1/attachments/\(file)/thumbnail")
        #expect(got.body == onePixel && got.headers["content-type"] == "image/png")
    }
}
