// Uploads in several requests, and after broken connections.
import Domain
import NIOCore
import TestSupport
import Testing

@Suite("Resuming an upload", .timeLimit(.minutes(1)))
struct ResumingUploads {
    @Test("continues from the offset that the service names, part by part")
    func parts() async throws {
        let client = try await Person.make("Ann").client
        let (id, bytes) = (newAttachment(), someBytes(700_000))
        let begun = try await client.upload([], as: id, headers: ["Upload-Complete: ?0", "Upload-Length: 700000"])
        #expect(begun.status == 201 && begun.headers["location"] == "/v1/attachments/\(id)/upload", "\(begun.text)")
        #expect(begun.headers["upload-offset"] == "0" && begun.headers["upload-complete"] == "?0")
        #expect(begun.headers["upload-limit"] == "max-size=52428800, max-age=86400")
        #expect(try begun.string("state") == "receiving")
        var offset = 0
        // Ends within chunks, at the end of a chunk, and right after it.
        for end in [1, 262_144, 262_145, 500_000] {
            let reply = try await client.append(Array(bytes[offset..<end]), to: id, at: offset, isComplete: false)
            #expect(reply.status == 204 && reply.headers["upload-offset"] == "\(end)", "\(reply.text)")
            #expect(reply.headers["upload-complete"] == "?0")
            offset = end
        }
        let progress = try await client.progress(of: id)
        #expect(progress.status == 204 && progress.headers["upload-offset"] == "500000")
        #expect(progress.headers["upload-complete"] == "?0" && progress.headers["upload-length"] == "700000")
        #expect(progress.headers["cache-control"] == "no-store")
        let end = try await client.append(Array(bytes[500_000...]), to: id, at: 500_000, isComplete: true)
        #expect(try end.status == 201 && end.string("state") == "ready", "\(end.text)")
        #expect(try await client.download(id).body == bytes)
        let done = try await client.progress(of: id)
        #expect(done.headers["upload-complete"] == "?1" && done.headers["upload-offset"] == "700000")
        let late = try await client.append([], to: id, at: 700_000, isComplete: true)
        #expect(late.status == 409 && late.problemCode == "upload_complete" && late.headers["upload-complete"] == "?1")
    }

    @Test("keeps every byte that arrived before the connection broke")
    func broken() async throws {
        let client = try await Person.make("Ann").client
        let bytes = someBytes(400_000)
        for cut in [1, 262_144, 399_999] {
            let id = newAttachment()
            try await client.abandon(
                client.request(
                    "PUT", "/v1/attachments/\(id)", headers: ["Content-Length: 400000"], body: Array(bytes[..<cut])))
            // Every byte that arrived is kept, although HEAD asks before all of them are stored.
            try await eventually("the bytes before the cut are stored") {
                try await client.progress(of: id).headers["upload-offset"] == String(cut)
            }
            let rest = try await client.append(Array(bytes[cut...]), to: id, at: cut, isComplete: true)
            #expect(rest.status == 201, "\(rest.text)")
            #expect(try await client.download(id).body == bytes)
        }
    }

    @Test("receives the right offset after a wrong one")
    func wrongOffset() async throws {
        let client = try await Person.make("Ann").client
        let id = newAttachment()
        let begun = try await client.upload([1, 2, 3], as: id, headers: ["Upload-Complete: ?0"])
        #expect(begun.status == 201 && begun.headers["upload-offset"] == "3", "\(begun.text)")
        for offset in [0, 2, 4] {
            let reply = try await client.append([4], to: id, at: offset, isComplete: true)
            #expect(reply.status == 409 && reply.problemCode == "upload_offset_mismatch", "\(reply.text)")
            #expect(reply.headers["upload-offset"] == "3")
        }
    }

    @Test("is refused with other headers, lengths and accounts")
    func refused() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let (id, client) = (newAttachment(), ann.client)
        let path = "/v1/attachments/\(id)/upload"
        _ = try await client.upload([1], as: id, headers: ["Upload-Complete: ?0", "Upload-Length: 3"])
        let type = try await client.send("PATCH", path, bytes: [2], type: "application/octet-stream")
        #expect(type.status == 415 && type.problemCode == "unsupported_media_type")
        let missing = try await client.send("PATCH", path, bytes: [2], type: "application/partial-upload")
        #expect(missing.status == 422 && missing.errorFields == ["Upload-Offset", "Upload-Complete"])
        for (bytes, isComplete, headers) in [
            ([2, 3, 4], false, []), ([2], true, []), ([2, 3], true, ["Upload-Length: 4"]),
            ([2], false, ["Upload-Length: 4"]),
        ] as [([UInt8], Bool, [String])] {
            let reply = try await client.append(bytes, to: id, at: 1, isComplete: isComplete, headers: headers)
            #expect(reply.status == 422 && reply.errorFields == ["Upload-Length"], "\(reply.text)")
        }
        #expect(try await bob.client.progress(of: id).status == 404)
        #expect(try await bob.client.append([2, 3], to: id, at: 1, isComplete: true).status == 404)
        let complete = try await client.append([2, 3], to: id, at: 1, isComplete: true)
        #expect(complete.status == 201, "\(complete.text)")
        let again = try await client.upload([], as: id, headers: ["Upload-Complete: ?0"])
        #expect(again.status == 409 && again.problemCode == "upload_complete")
    }

    @Test("is not ready before its end, and starts again by a whole PUT")
    func anew() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let id = newAttachment()
        _ = try await ann.client.upload([1, 2, 3], as: id, headers: ["Upload-Complete: ?0"])
        let early = try await ann.client.download(id)
        #expect(early.status == 409 && early.problemCode == "attachment_not_ready", "\(early.text)")
        #expect(try await bob.client.download(id).status == 404)
        #expect(try await ann.client.upload([9, 9], as: id).status == 201)
        #expect(try await ann.client.download(id).body == [9, 9])
    }

    @Test("ends the request that was still sending")
    func superseded() async throws {
        let client = try await Person.make("Ann").client
        let id = newAttachment()
        let request = client.request(
            "PUT", "/v1/attachments/\(id)", headers: ["Content-Length: 900000", "Upload-Complete: ?0"],
            body: someBytes(600_000))
        let first = try await client.exchange(request) {
            // Two whole chunks. The node keeps the rest until more arrives.
            try await eventually("512 KiB are stored") {
                try await client.progress(of: id).headers["upload-offset"] == "524288"
            }
            let second = try await client.append([1], to: id, at: 524_288, isComplete: false)
            #expect(second.status == 204, "\(second.text)")
            return ByteBuffer(bytes: someBytes(300_000))
        }
        #expect(first.status == 409 && first.problemCode == "upload_superseded", "\(first.text)")
        let third = try await client.append([2], to: id, at: 524_289, isComplete: true)
        #expect(third.status == 201, "\(third.text)")
    }
}
