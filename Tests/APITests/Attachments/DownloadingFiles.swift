// Downloads: whole files, parts, conditions, and the headers that keep browsers safe.
import Domain
import Testing

@Suite("Downloading a file", .timeLimit(.minutes(1)))
struct DownloadingFiles {
    @Test("returns the bytes with safe headers")
    func whole() async throws {
        let ann = try await Person.make("Ann")
        let html = Array("<html><script>alert(1)</script></html>".utf8)
        let id = try await ann.file(html, query: "?name=%E2%82%AC.html", type: "text/html")
        for method in ["GET", "HEAD"] {
            let reply = try await ann.client.send(method, "/v1/attachments/\(id)")
            #expect(reply.status == 200 && reply.body == (method == "GET" ? html : []))
            for (name, value) in [
                ("content-length", "\(html.count)"), ("content-type", "application/octet-stream"),
                ("etag", "\"\(hexadecimalDigest(html))\""), ("accept-ranges", "bytes"),
                ("cache-control", "private, max-age=31536000, immutable"), ("x-content-type-options", "nosniff"),
                ("content-security-policy", "sandbox; default-src 'none'"), ("referrer-policy", "no-referrer"),
                // The tests' node has an origin of another site.
                ("cross-origin-resource-policy", "cross-origin"),
                ("content-disposition", #"attachment; filename="_.html"; filename*=UTF-8''%E2%82%AC.html"#),
            ] {
                #expect(reply.headers[name] == value, "\(method) \(name): \(reply.headers[name] ?? "")")
            }
        }
    }

    @Test("shows pictures, films and sounds inline, by what they are")
    func inline() async throws {
        let ann = try await Person.make("Ann")
        let id = try await ann.file(onePixel, type: "text/html")
        let reply = try await ann.client.download(id)
        #expect(reply.headers["content-type"] == "image/png")
        #expect(reply.headers["content-disposition"]?.hasPrefix("inline; ") == true)
        for (start, type) in [
            ([0, 0, 0, 24] + Array("ftypisom".utf8) + [0, 0, 2, 0] + Array("isommp42".utf8), "video/mp4"),
            (Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, 0, 0xff, 0xfb, 0x90, 0x64], "audio/mpeg"),
            (Array("OggS".utf8) + [0, 2], "application/ogg"),
        ] {
            let id = try await ann.file(start + Array(repeating: 0, count: 200), type: "image/svg+xml")
            let reply = try await ann.client.download(id)
            #expect(reply.headers["content-type"] == type)
            #expect(reply.headers["content-disposition"]?.hasPrefix("inline; ") == true, "\(type)")
        }
        let svg = try await ann.file(Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8), type: "image/svg+xml")
        let pdf = try await ann.file(Array("%PDF-1.4\n".utf8), type: "application/pdf")
        for id in [svg, pdf] {
            let reply = try await ann.client.download(id)
            #expect(reply.headers["content-disposition"]?.hasPrefix("attachment; ") == true)
        }
    }

    @Test("returns one range, across the ends of chunks")
    func ranges() async throws {
        let ann = try await Person.make("Ann")
        let bytes = someBytes(700_000)
        let id = try await ann.file(bytes)
        for (range, part) in [
            ("0-0", 0..<1), ("262143-262144", 262_143..<262_145), ("262144-", 262_144..<700_000),
            ("-1", 699_999..<700_000), ("100-600000", 100..<600_001), ("0-9999999", 0..<700_000),
        ] {
            let reply = try await ann.client.download(id, headers: ["Range: bytes=\(range)"])
            #expect(reply.status == 206 && reply.body == Array(bytes[part]), "\(range): \(reply.status)")
            #expect(reply.headers["content-range"] == "bytes \(part.lowerBound)-\(part.upperBound - 1)/700000")
            #expect(reply.headers["content-length"] == "\(part.count)")
        }
        let beyond = try await ann.client.download(id, headers: ["Range: bytes=700000-"])
        #expect(beyond.status == 416 && beyond.problemCode == "range_not_satisfiable")
        #expect(beyond.headers["content-range"] == "bytes */700000")
        for range in ["bytes=0-1,4-5", "bytes=x", "lines=1-2"] {
            let reply = try await ann.client.download(id, headers: ["Range: \(range)"])
            #expect(reply.status == 200 && reply.body == bytes, "\(range)")
        }
        let head = try await ann.client.send("HEAD", "/v1/attachments/\(id)", headers: ["Range: bytes=0-0"])
        #expect(head.status == 200 && head.headers["content-length"] == "700000")
    }

    @Test("obeys If-None-Match and If-Range")
    func conditions() async throws {
        let ann = try await Person.make("Ann")
        let bytes = someBytes(1_000)
        let id = try await ann.file(bytes)
        let tag = "\"\(hexadecimalDigest(bytes))\""
        for header in [tag, "W/\(tag)", "\"a\", \(tag)", "*"] {
            let reply = try await ann.client.download(id, headers: ["If-None-Match: \(header)", "Range: bytes=0-1"])
            #expect(reply.status == 304 && reply.body.isEmpty && reply.headers["etag"] == tag, "\(header)")
            #expect(reply.headers["content-length"] == nil)
        }
        #expect(try await ann.client.download(id, headers: ["If-None-Match: \"a\""]).body == bytes)
        let same = try await ann.client.download(id, headers: ["Range: bytes=0-1", "If-Range: \(tag)"])
        #expect(same.status == 206)
        for header in ["\"a\"", "W/\(tag)", "Sat, 21 Nov 2026 10:00:00 GMT"] {
            let reply = try await ann.client.download(id, headers: ["Range: bytes=0-1", "If-Range: \(header)"])
            #expect(reply.status == 200 && reply.body == bytes, "\(header)")
        }
    }

    @Test("follows the message: its readers may, others get 404, and nobody after it is deleted")
    func access() async throws {
        let (ann, bob, eve) = (try await Person.make("Ann"), try await Person.make("Bob"), try await Person.make("Eve"))
        let id = try await ann.file([1, 2, 3], query: "?name=a.bin")
        #expect(try await bob.client.download(id).problemCode == "attachment_not_found")
        let thread = try await ann.group(with: [bob])
        let sent = try await ann.client.post(
            "/v1/threads/\(thread)/messages", #"{"payload":{"attachments":[{"id":"\#(id)"}]}}"#)
        #expect(sent.status == 201, "\(sent.text)")
        #expect(try sent.string("payload.attachments.0.name") == "a.bin")
        #expect(try await bob.client.download(id).body == [1, 2, 3])
        #expect(try await bob.client.get("/v1/attachments/\(id)/info").status == 200)
        #expect(try await eve.client.download(id).status == 404)
        #expect(try await Client().download(id).status == 401)
        #expect(try await ann.client.delete("/v1/attachments/\(id)").problemCode == "attachment_in_use")
        #expect(try await bob.client.post("/v1/attachments/\(id)/received").status == 204)
        #expect(try await eve.client.post("/v1/attachments/\(id)/received").status == 404)
        let message = try sent.string("id")
        #expect(try await ann.client.delete("/v1/threads/\(thread)/messages/\(message)?for=everyone").status == 204)
        for person in [ann, bob] { #expect(try await person.client.download(id).status == 404) }
    }

    @Test("must not be stored if a message with it expires")
    func transient() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let id = try await ann.file(someBytes(100_000))
        let thread = try await ann.group(with: [bob])
        let sent = try await ann.client.post(
            "/v1/threads/\(thread)/messages", #"{"payload":{"attachments":[{"id":"\#(id)"}]},"expires_in_s":60}"#)
        #expect(sent.status == 201, "\(sent.text)")
        #expect(try await bob.client.download(id).headers["cache-control"] == "no-store")
    }
}
