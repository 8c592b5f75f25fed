// Uploads by one request.
import Domain
import NIOCore
import TestSupport
import Testing

@Suite("Uploading a file", .timeLimit(.minutes(1)))
struct UploadingFiles {
    @Test("answers with the attachment, ready, under the client's id")
    func whole() async throws {
        let ann = try await Person.make("Ann")
        let id = newAttachment()
        let bytes = someBytes(600_000)
        let reply = try await ann.client.upload(bytes, as: id, query: "?name=a%2Fb.bin", type: "text/html")
        #expect(reply.status == 201, "\(reply.text)")
        #expect(try reply.string("id") == id && reply.string("state") == "ready")
        #expect(try reply.string("name") == "a_b.bin" && reply.integer("size") == 600_000)
        #expect(try reply.string("content_type") == "application/octet-stream" && reply["thumbnail"] == .bool(false))
        #expect(reply.headers["location"] == "/v1/attachments/\(id)")
        #expect(reply.headers["upload-complete"] == "?1" && reply.headers["upload-offset"] == "600000")
        #expect(try await ann.client.get("/v1/attachments/\(id)/info").body == reply.body)
        let got = try await ann.client.download(id)
        #expect(got.status == 200 && got.body == bytes)
    }

    @Test("works with an id of the service's, and with a body in chunks")
    func post() async throws {
        let client = try await Person.make("Ann").client
        let made = try await client.send(
            "POST", "/v1/attachments", bytes: [1, 2, 3], type: nil,
            headers: [#"Content-Disposition: attachment; filename="x.dat""#])
        #expect(made.status == 201, "\(made.text)")
        #expect(try made.string("name") == "x.dat" && made.integer("size") == 3)
        #expect(made.headers["location"] == "/v1/attachments/\(try made.string("id"))")
        let id = newAttachment()
        let chunked = try await client.exchange(
            client.request(
                "PUT", "/v1/attachments/\(id)", headers: ["Transfer-Encoding: chunked"],
                body: Array("3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n".utf8)))
        #expect(chunked.status == 201, "\(chunked.text)")
        #expect(try await client.download(id).text == "abcdefg")
        let empty = try await client.upload([], as: newAttachment(), type: "image/png")
        #expect(try empty.status == 201 && empty.integer("size") == 0 && empty.string("name") == "file.png")
        #expect(try empty.string("content_type") == "application/octet-stream")
    }

    @Test("can be repeated: 200 for the same bytes, 409 for others and for another account")
    func repeated() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let bytes = someBytes(300_000)
        let id = try await ann.file(bytes)
        let again = try await ann.client.upload(bytes, as: id)
        #expect(try again.status == 200 && again.string("id") == id)
        // The bytes as uploaded count, without a picture's metadata or with it.
        let picture = try await ann.file(onePixel + Array("trailing".utf8))
        #expect(try await ann.client.get("/v1/attachments/\(picture)/info").integer("size") == Int64(onePixel.count))
        #expect(try await ann.client.upload(onePixel + Array("trailing".utf8), as: picture).status == 200)
        #expect(try await ann.client.upload(onePixel, as: picture).problemCode == "id_taken")
        var other = bytes
        other[299_999] ^= 1
        for reply in [
            try await ann.client.upload(other, as: id), try await ann.client.upload(bytes + [0], as: id),
            try await ann.client.upload(bytes.dropLast(), as: id), try await ann.client.upload([], as: id),
            try await bob.client.upload(bytes, as: id),
            try await bob.client.upload([], as: id, headers: ["Upload-Complete: ?0"]),
        ] {
            #expect(reply.status == 409 && reply.problemCode == "id_taken", "\(reply.text)")
        }
        #expect(try await ann.client.download(id).body == bytes)
    }

    @Test("is refused if it is too large: before the body if its size is declared, at the limit otherwise")
    func tooLarge() async throws {
        let client = try await Person.make("Ann").client
        let path = "/v1/attachments/\(newAttachment())"
        let declared = Limits().attachmentByteCountMax + 1
        for headers in [
            ["Content-Length: \(declared)"], ["Content-Length: \(declared)", "Expect: 100-continue"],
            ["Content-Length: 4", "Upload-Complete: ?0", "Upload-Length: \(declared)"],
        ] {
            let reply = try await client.exchange(
                client.request("PUT", path, headers: headers, body: Array("abcd".utf8)))
            #expect(reply.status == 413 && reply.problemCode == "attachment_too_large", "\(reply.text)")
            #expect(reply.headers["upload-limit"] == "max-size=52428800, max-age=86400")
        }
    }

    @Test("says what is wrong with its headers, parameters and id")
    func invalid() async throws {
        let client = try await Person.make("Ann").client
        for (headers, field) in [
            (["Upload-Complete: yes"], "Upload-Complete"), (["Upload-Length: -1"], "Upload-Length"),
            (["Upload-Length: 2"], "Upload-Length"), (["Upload-Offset: 1"], "Upload-Offset"),
        ] {
            let reply = try await client.upload([1], as: newAttachment(), headers: headers)
            #expect(reply.status == 422 && reply.errorFields == [field], "\(reply.text)")
        }
        let query = try await client.upload([1], as: newAttachment(), query: "?nmae=x")
        #expect(query.status == 422 && query.errorFields == ["nmae"])
        #expect(try await client.upload([1], as: "x").problemCode == "attachment_not_found")
        #expect(try await Client().upload([1], as: newAttachment()).status == 401)
        let other = try await client.send("DELETE", "/v1/attachments")
        #expect(other.status == 405 && other.headers["allow"] == "POST")
        let upload = try await client.get("/v1/attachments/\(newAttachment())/upload")
        #expect(upload.status == 405 && upload.headers["allow"] == "HEAD, PATCH")
    }

    @Test("can be deleted while nothing uses the file")
    func delete() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let id = try await ann.file([1, 2, 3])
        #expect(try await bob.client.delete("/v1/attachments/\(id)").problemCode == "attachment_not_found")
        #expect(try await ann.client.delete("/v1/attachments/\(id)").status == 204)
        for path in ["", "/info", "/thumbnail"] {
            #expect(try await ann.client.get("/v1/attachments/\(id)\(path)").problemCode == "attachment_not_found")
        }
        #expect(try await ann.client.delete("/v1/attachments/\(id)").status == 404)
        // An unfinished upload, too.
        let begun = try await ann.client.send(
            "POST", "/v1/attachments", bytes: [1, 2], type: nil, headers: ["Upload-Complete: ?0"])
        #expect(begun.status == 201 && begun.headers["upload-offset"] == "2", "\(begun.text)")
        let unfinished = try begun.string("id")
        #expect(begun.headers["location"] == "/v1/attachments/\(unfinished)/upload")
        #expect(try await ann.client.delete("/v1/attachments/\(unfinished)").status == 204)
        #expect(try await ann.client.progress(of: unfinished).status == 404)
        #expect(try await ann.client.append([3], to: unfinished, at: 2, isComplete: true).status == 404)
    }

    @Test("that is refused keeps none of its bytes, and counts none")
    func refusedBytes() async throws {
        let node = try await TestNode { settings in
            settings.limits.attachmentQuotaByteCount = 1_000_000
            settings.limits.attachmentByteCountMax = 700_000
        }
        let ann = try await Person.make("Ann", port: node.port)
        let client = ann.client
        func stored() async throws -> String {
            try await Psql.run(
                "select count(*), coalesce(sum(received), 0) from attachments where state = 0", conninfo: node.database)
        }
        func chunked(_ method: String, _ path: String, _ count: Int, _ headers: [String] = []) async throws -> Reply {
            let body =
                Array("\(String(count, radix: 16))\r\n".utf8) + someBytes(count) + Array("\r\n0\r\n\r\n".utf8)
            return try await client.exchange(
                client.request(method, path, headers: ["Transfer-Encoding: chunked"] + headers, body: body))
        }
        let large = try await chunked("PUT", "/v1/attachments/\(newAttachment())", 700_001)
        #expect(large.status == 413 && large.problemCode == "attachment_too_large", "\(large.text)")
        _ = try await ann.file(someBytes(600_002))
        // More than the quota, in a body of unknown length: its first chunks fit.
        let refused = try await chunked("PUT", "/v1/attachments/\(newAttachment())", 600_000)
        #expect(refused.status == 403 && refused.problemCode == "quota_exceeded", "\(refused.text)")
        #expect(try await stored() == "0|0")
        // More than was declared.
        let declared = try await chunked(
            "PUT", "/v1/attachments/\(newAttachment())", 350_000, ["Upload-Length: 300000"])
        #expect(declared.status == 422 && declared.errorFields == ["Upload-Length"], "\(declared.text)")
        let part = try await client.upload(
            someBytes(450_000), as: newAttachment(), headers: ["Upload-Complete: ?0"])
        #expect(part.status == 403, "\(part.text)")
        #expect(try await stored() == "0|0")
        // A later part loses its own bytes alone: the client resumes where this part began.
        let id = newAttachment()
        let begun = try await client.upload(someBytes(70_000), as: id, headers: ["Upload-Complete: ?0"])
        #expect(begun.status == 201, "\(begun.text)")
        let path = "/v1/attachments/\(id)/upload"
        for count in [600_000, 330_001] {
            let later = try await chunked(
                "PATCH", path, count,
                ["Upload-Offset: 70000", "Upload-Complete: ?1", "Content-Type: application/partial-upload"])
            #expect(later.status == 403 && later.problemCode == "quota_exceeded", "\(later.text)")
            #expect(try await client.progress(of: id).headers["upload-offset"] == "70000")
            #expect(try await stored() == "1|70000")
        }
        let rest = try await client.append(someBytes(329_998), to: id, at: 70_000, isComplete: true)
        #expect(rest.status == 201, "\(rest.text)")
        #expect(try await client.download(id).body.count == 399_998)
    }
}
