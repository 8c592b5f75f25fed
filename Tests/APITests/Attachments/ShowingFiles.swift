// Files without an Authorization header: signed links and the media cookie. And thumbnails of the client's own.
import Domain
import TestSupport
import Testing

@Suite("Showing a file without a token", .timeLimit(.minutes(1)))
struct ShowingFiles {
    private func path(_ url: String) -> String { String(url.dropFirst("http://localhost".count)) }

    @Test("works by a signed link, until it ends or its session does")
    func links() async throws {
        let (ann, anyone) = (try await Person.make("Ann"), try await Client())
        let id = try await ann.file([1, 2, 3])
        let made = try await ann.client.post("/v1/attachments/\(id)/link")
        #expect(made.status == 200, "\(made.text)")
        let link = path(try made.string("url"))
        #expect(try made.string("url").hasPrefix("http://localhost/v1/attachments/\(id)?link="))
        #expect(try await anyone.get(link).body == [1, 2, 3])
        #expect(try await anyone.send("HEAD", link).status == 200)
        let again = try await ann.client.post("/v1/attachments/\(id)/link")
        // Only at the end of a quarter hour do two links differ.
        #expect(
            try again.string("url") == made.string("url") || again.string("expires_at") != made.string("expires_at"))
        #expect(try await anyone.get(String(link.dropLast())).status == 404)
        #expect(try await anyone.get(link + "A").status == 404)
        #expect(try await anyone.get(link + "&x=1").status == 404)
        #expect(try await anyone.get(link.replacing("link=", with: "lnik=")).status == 404)
        #expect(try await anyone.get(link.replacing("?", with: "/thumbnail?")).status == 404)
        let short = path(try await ann.client.post("/v1/attachments/\(id)/link", #"{"seconds":1}"#).string("url"))
        try await eventually("the end of the short link") { try await anyone.get(short).status == 404 }
        #expect(try await anyone.get(link).status == 200)
        #expect(try await ann.client.post("/v1/auth/logout").status == 204)
        let dead = try await anyone.get(link)
        #expect(dead.status == 404 && dead.problemCode == "attachment_not_found")
    }

    @Test("needs a caller who may see the file to ask for a link")
    func askingForLinks() async throws {
        let (ann, eve) = (try await Person.make("Ann"), try await Person.make("Eve"))
        let id = try await ann.file([1])
        #expect(try await eve.client.post("/v1/attachments/\(id)/link").status == 404)
        let thumbnail = try await ann.client.post("/v1/attachments/\(id)/link", #"{"variant":"thumbnail"}"#)
        #expect(thumbnail.status == 404)
        for body in [#"{"seconds":0}"#, #"{"seconds":86401}"#, #"{"variant":"x"}"#, #"{"other":1}"#] {
            #expect(try await ann.client.post("/v1/attachments/\(id)/link", body).status == 422)
        }
        let forwarded = try await ann.client.send(
            "POST", "/v1/attachments/\(id)/link", body: "{}", headers: ["X-Forwarded-Proto: https"])
        // The client is no trusted proxy.
        #expect(try forwarded.string("url").hasPrefix("http://"))
    }

    @Test("works by the media cookie, for GET and HEAD of files and nothing else")
    func cookie() async throws {
        let (ann, anyone) = (try await Person.make("Ann"), try await Client())
        let id = try await ann.file([1, 2, 3])
        let set = try await ann.client.post("/v1/sessions/current/media-cookie")
        #expect(set.status == 204)
        let parts = try #require(set.headers["set-cookie"]).components(separatedBy: "; ")
        #expect(parts[0].hasPrefix("parley_media="))
        #expect(Set(parts.dropFirst()) == ["HttpOnly", "SameSite=Strict", "Path=/v1/attachments", "Max-Age=7776000"])
        let cookie = "Cookie: a=b; \(parts[0])"
        #expect(try await anyone.download(id, headers: [cookie]).body == [1, 2, 3])
        #expect(try await anyone.send("HEAD", "/v1/attachments/\(id)", headers: [cookie]).status == 200)
        for (method, path) in [
            ("GET", "/v1/attachments/\(id)/info"), ("GET", "/v1/users/me"), ("DELETE", "/v1/attachments/\(id)"),
            ("PUT", "/v1/attachments/\(id)"), ("HEAD", "/v1/attachments/\(id)/upload"),
            ("POST", "/v1/attachments/\(id)/link"), ("POST", "/v1/attachments/\(id)/received"), ("GET", "/v1/inbox"),
            ("GET", "/v1/sync"), ("POST", "/v1/auth/logout"), ("POST", "/v1/sessions/current/media-cookie"),
        ] {
            #expect(try await anyone.send(method, path, headers: [cookie]).status == 401, "\(method) \(path)")
        }
        #expect(try await anyone.download(id, headers: [cookie + "x"]).status == 404)
        let wrong = ["Authorization: Bearer x", cookie]
        #expect(try await anyone.download(id, headers: wrong).status == 401)
        #expect(try await anyone.download(id, headers: [cookie], query: "?x=1").status == 422)
        #expect(try await ann.client.post("/v1/auth/logout").status == 204)
        #expect(try await anyone.download(id, headers: [cookie]).status == 404)
    }

    @Test("is Secure on hosts other than loopback")
    func secureCookie() async throws {
        let client = try await Person.make("Ann").client
        var lines = client.request("POST", "/v1/sessions/current/media-cookie", headers: [], body: [])
        let text = String(decoding: lines.readableBytesView, as: UTF8.self)
        lines.clear()
        lines.writeString(text.replacing("Host: localhost", with: "Host: chat.example"))
        #expect(try await client.exchange(lines).headers["set-cookie"]?.hasSuffix("; Secure") == true)
    }

    @Test("includes a thumbnail of the owner's own")
    func thumbnails() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let id = try await ann.file(someFilm)
        let path = "/v1/attachments/\(id)/thumbnail"
        #expect(try await ann.client.get(path).problemCode == "attachment_not_found")
        #expect(try await bob.client.send("PUT", path, bytes: onePixel, type: "image/png").status == 404)
        let text = try await ann.client.send("PUT", path, bytes: Array("GIF89a".utf8), type: "image/png")
        #expect(text.status == 415 && text.problemCode == "unsupported_media_type")
        let half = try await ann.client.send("PUT", path, bytes: Array(onePixel.prefix(40)), type: "image/png")
        #expect(half.status == 422 && half.errorFields == ["body"], "\(half.text)")
        let large = try await ann.client.send("PUT", path, bytes: onePixel + someBytes(256 * 1024), type: "image/png")
        #expect(large.status == 413)
        // Everyone who sees the message decodes it.
        for (bytes, reason) in [
            (picture(width: 1_281, height: 1), "1280 pixels"), (picture(width: 1, height: 16_000), "1280 pixels"),
            (animated, "one frame"),
        ] {
            let refused = try await ann.client.send("PUT", path, bytes: bytes, type: "image/png")
            #expect(refused.status == 422 && refused.errorFields == ["body"], "\(refused.text)")
            #expect(refused.text.contains(reason), "\(refused.text)")
        }
        let most = try await ann.client.send("PUT", path, bytes: picture(width: 1_280, height: 1_280), type: nil)
        #expect(most.status == 200)
        // Whatever follows the picture's end is removed.
        let put = try await ann.client.send("PUT", path, bytes: onePixel + [1, 2, 3], type: nil)
        #expect(put.status == 200 && put["thumbnail"] == .bool(true), "\(put.text)")
        let got = try await ann.client.get(path)
        #expect(got.body == onePixel && got.headers["content-type"] == "image/png")
        #expect(got.headers["etag"] == "\"\(hexadecimalDigest(onePixel))\"")
        let link = try await ann.client.post("/v1/attachments/\(id)/link", #"{"variant":"thumbnail"}"#)
        #expect(try await Client().get(self.path(link.string("url"))).body == onePixel)
    }

    @Test("counts a thumbnail in the quota, and takes none before the file's first byte")
    func thumbnailsInTheQuota() async throws {
        let node = try await TestNode { $0.limits.attachmentQuotaByteCount = 1_000 }
        let ann = try await Person.make("Ann", port: node.port)
        let size = onePixel.count
        let (id, filler) = (newAttachment(), newAttachment())
        func put() async throws -> Reply {
            try await ann.client.send("PUT", "/v1/attachments/\(id)/thumbnail", bytes: onePixel, type: "image/png")
        }
        #expect(try await ann.client.upload([], as: id, headers: ["Upload-Complete: ?0"]).status == 201)
        let early = try await put()
        #expect(early.status == 409 && early.problemCode == "attachment_not_ready", "\(early.text)")
        #expect(try await ann.client.append(onePixel, to: id, at: 0, isComplete: false).status == 204)
        #expect(try await ann.client.upload(someBytes(1_001 - 2 * size), as: filler).status == 201)
        let more = try await put()
        #expect(more.status == 403 && more.problemCode == "quota_exceeded", "\(more.text)")
        #expect(try await ann.client.send("DELETE", "/v1/attachments/\(filler)").status == 204)
        #expect(try await put().status == 200)
        #expect(try await ann.client.upload(someBytes(1_000 - 2 * size), as: newAttachment()).status == 201)
        let all = try await ann.client.upload([1], as: newAttachment())
        #expect(all.status == 403 && all.problemCode == "quota_exceeded", "\(all.text)")
        // The same one again takes no more room, also once the file is complete.
        #expect(try await put().status == 200)
        let done = try await ann.client.append([], to: id, at: size, isComplete: true)
        #expect(done.status == 201, "\(done.text)")
        #expect(try await put().status == 200)
        let counted = try await Psql.run("select sum(stored_bytes) from attachments", conninfo: node.database)
        #expect(counted == "1000")
    }

    /// A box that says MP4.
    private var someFilm: [UInt8] { [0, 0, 0, 16] + Array("ftypisom".utf8) + [0, 0, 2, 0] + someBytes(100) }

    /// The header states the size; CRCs of chunks are the decoder's business.
    private func picture(width: UInt16, height: UInt16) -> [UInt8] {
        var bytes = onePixel
        bytes.replaceSubrange(
            16..<24, with: [0, 0, UInt8(width >> 8), UInt8(width & 255), 0, 0, UInt8(height >> 8), UInt8(height & 255)])
        return bytes
    }

    /// A PNG that states two frames.
    private var animated: [UInt8] {
        var bytes = onePixel
        bytes.insert(
            contentsOf: [0, 0, 0, 8] + Array("acTL".utf8) + [0, 0, 0, 2, 0, 0, 0, 0, 1, 2, 3, 4], at: 33)
        return bytes
    }
}
