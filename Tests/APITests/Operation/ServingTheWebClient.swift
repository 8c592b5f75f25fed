// The web client over HTTP: headers, caching, compression, methods, and a service without it.
import Domain
import HTTPTypes
import Testing
import WebClient

@testable import API

@Suite("The web client", .timeLimit(.minutes(1)))
struct ServingTheWebClient {
    private static let page = WebPage.embedded
    private static let main = "/app/\(page.version)/main.js"
    private static let all = page.files.keys.sorted()

    @Test("answers each of its paths with the file, its type and the headers that confine a page", arguments: all)
    func serves(_ path: String) async throws {
        let file = try #require(Self.page.files[path])
        let reply = try await Client().get(path)
        #expect(reply.status == 200 && reply.body == file.bytes)
        #expect(reply.headers["content-type"] == file.mediaType)
        #expect(
            reply.headers["cache-control"]
                == (file.isOfVersion ? "public, max-age=31536000, immutable" : "no-cache"))
        #expect(reply.headers["content-security-policy"] == WebClientPage.contentSecurityPolicy)
        #expect(reply.headers["x-content-type-options"] == "nosniff")
        #expect(reply.headers["referrer-policy"] == "no-referrer")
        #expect(reply.headers["cross-origin-opener-policy"] == "same-origin")
        #expect(reply.headers["cross-origin-resource-policy"] == "same-origin")
        #expect(reply.headers["permissions-policy"]?.contains("camera=()") == true)
        #expect(reply.headers["set-cookie"] == nil)
        let tag = try #require(reply.headers["etag"])
        #expect(tag.hasPrefix("\"") && tag.hasSuffix("\""))
    }

    @Test("runs nothing but its own modules: no inline script, no eval, no other host, no frame, Trusted Types")
    func policy() {
        let policy = WebClientPage.contentSecurityPolicy
        for directive in [
            "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "base-uri 'none'",
            "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
        ] {
            #expect(policy.split(separator: "; ").contains { $0 == directive }, "\(directive)")
        }
        #expect(!policy.contains("unsafe") && !policy.contains("http") && !policy.contains("*"))
    }

    @Test("is compressed for clients that accept gzip, with another tag")
    func compression() async throws {
        let client = try await Client()
        let file = try #require(Self.page.files[Self.main])
        let plain = try await client.get(Self.main)
        #expect(plain.headers["content-encoding"] == nil)
        for accepted in ["gzip", "deflate, gzip;q=0.5, br", "br,GZIP"] {
            let reply = try await client.send("GET", Self.main, headers: ["Accept-Encoding: \(accepted)"])
            #expect(reply.headers["content-encoding"] == "gzip" && reply.body == file.gzipped, "\(accepted)")
            #expect(reply.headers["content-type"] == file.mediaType)
            #expect(reply.headers["etag"] != plain.headers["etag"])
        }
        for refused in ["br", "gzip;q=0", "identity", ""] {
            let reply = try await client.send("GET", Self.main, headers: ["Accept-Encoding: \(refused)"])
            #expect(reply.headers["content-encoding"] == nil && reply.body == file.bytes, "\(refused)")
        }
    }

    @Test("has a page with a way home for a browser at an address that nothing has, and for programs a problem")
    func nothing() async throws {
        let client = try await Client()
        let browser = "Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"
        let reply = try await client.send("GET", "/some/page", headers: [browser])
        #expect(reply.status == 404 && reply.headers["content-type"] == "text/html; charset=utf-8")
        #expect(String(decoding: reply.body, as: UTF8.self).contains("<a href=\"/\">"))
        #expect(reply.headers["content-security-policy"] == WebClientPage.contentSecurityPolicy)
        for (method, path, accepted) in [
            ("GET", "/some/page", "Accept: */*"), ("GET", "/v1/nothing", browser), ("POST", "/some/page", browser),
        ] {
            let reply = try await client.send(method, path, headers: [accepted])
            #expect(reply.status == 404, "\(method) \(path)")
            #expect(reply.headers["content-type"] == "application/problem+json", "\(method) \(path)")
        }
    }

    @Test("is not sent again to a browser that has it", arguments: ["", "gzip"])
    func notModified(_ encoding: String) async throws {
        let client = try await Client()
        for path in ["/", "/service-worker.js", Self.main] {
            let encoding = "Accept-Encoding: \(encoding)"
            let tag = try #require(try await client.send("GET", path, headers: [encoding]).headers["etag"])
            for known in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
                let reply = try await client.send("GET", path, headers: [encoding, "If-None-Match: \(known)"])
                #expect(reply.status == 304 && reply.body.isEmpty, "\(path) \(known)")
                #expect(reply.headers["etag"] == tag && reply.headers["cache-control"] != nil)
            }
            let reply = try await client.send("GET", path, headers: [encoding, "If-None-Match: \"other\""])
            #expect(reply.status == 200)
        }
    }

    @Test("answers HEAD like GET without the body, and no other method")
    func methods() async throws {
        let client = try await Client()
        for path in ["/", "/service-worker.js", Self.main] {
            let get = try await client.get(path)
            let head = try await client.send("HEAD", path)
            #expect(head.status == 200 && head.body.isEmpty)
            for name in ["content-type", "content-length", "etag", "content-security-policy"] {
                #expect(head.headers[name] == get.headers[name], "\(name)")
            }
            for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
                let reply = try await client.send(method, path, body: method == "OPTIONS" ? nil : "{}")
                #expect(reply.status == 405 && reply.problemCode == "method_not_allowed", "\(method)")
                #expect(reply.headers["allow"] == "GET, HEAD")
            }
        }
    }

    @Test(
        "has no other paths: another version, a source's own name, a folder, a path outside",
        arguments: [
            "/app/0123456789abcdef/main.js", "/app/dev/main.js", "/app/\(page.version)/index.html",
            "/app/\(page.version)/service-worker.js", "/app/\(page.version)/", "/app/\(page.version)",
            "/app/\(page.version)/nothing.js", "/app/\(page.version)/../\(page.version)/main.js", "/app/",
            "/index.html", "/main.js", "//", "/APP/\(page.version)/main.js", "/app/\(page.version)/main.js/",
            "/app/\(page.version)//main.js", "/app/\(page.version)/not-found.html",
            "/app/\(page.version)/icon-180.png.base64",
        ])
    func otherPaths(_ path: String) async throws {
        let reply = try await Client().get(path)
        #expect(reply.status == 404 && reply.problemCode == "not_found")
    }

    @Test("is served whatever the query and the token are")
    func queries() async throws {
        #expect(try await Client().get("/?source=home-screen").status == 200)
        #expect(try await Client(token: "wrong").get("/").status == 200)
    }
}
