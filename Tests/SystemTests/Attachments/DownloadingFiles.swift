// Downloads: ranges, entity tags, and headers that make any file safe to serve.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Downloading files")
    struct DownloadingFiles: DirectThreadSuite {
        let direct: DirectThread

        init() async throws { direct = try await DirectThread() }

        private var a: Connection { Connection(nodes.a.address) }

        private func uploaded(_ bytes: Data, name: String? = nil) async throws -> String {
            try await Connection(nodes.b.address).uploaded(bytes, name: name, as: ann)["id"].string ?? ""
        }

        @Test("a single range in every form: 206 with exactly these bytes, also across chunks")
        func ranges() async throws {
            let file = TestFile.random(600_000)
            let id = try await uploaded(file.bytes)
            for (range, expected) in [
                ("0-0", 0..<1), ("0-", 0..<600_000), ("-5", 599_995..<600_000), ("5-10", 5..<11),
                ("262143-262144", 262_143..<262_145), ("262144-524287", 262_144..<524_288),
                ("100000-599999", 100_000..<600_000), ("599999-", 599_999..<600_000),
                ("599990-99999999", 599_990..<600_000), ("-99999999", 0..<600_000),
            ] {
                let answer = try await a.download(id, as: ann, [("Range", "bytes=\(range)")])
                #expect(answer.status == 206, "\(range): \(answer.headers)")
                #expect(answer.body == file.bytes[expected], "\(range)")
                let given = "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/600000"
                #expect(answer.headers["content-range"] == given, "\(range): \(answer.headers)")
                #expect(answer.headers["etag"] == file.etag && answer.headers["accept-ranges"] == "bytes")
            }
            for range in ["bytes=600000-", "bytes=700000-800000", "bytes=-0"] {
                let answer = try await a.download(id, as: ann, [("Range", range)])
                #expect(answer.status == 416 && answer.headers["content-range"] == "bytes */600000", "\(answer)")
                #expect(answer.code == "range_not_satisfiable")
            }
            for range in ["bytes=9-2", "items=0-1", "bytes=0-1,5-6", "bytes", "bytes=a-b", "bytes=--1"] {
                let answer = try await a.download(id, as: ann, [("Range", range)])
                #expect(answer.status == 200 && answer.digest == file.digest, "\(range): \(answer.headers)")
            }
        }

        @Test("If-None-Match and If-Range compare the strong tag; HEAD has the same headers and no body")
        func conditions() async throws {
            let file = TestFile.random(300_000)
            let id = try await uploaded(file.bytes)
            for known in [file.etag, "\"x\", \(file.etag)", "*"] {
                let answer = try await a.download(id, as: ann, [("If-None-Match", known)])
                #expect(answer.status == 304 && answer.body.isEmpty && answer.headers["etag"] == file.etag, "\(answer)")
            }
            #expect(try await a.download(id, as: ann, [("If-None-Match", "\"x\"")]).status == 200)
            let part = ("Range", "bytes=10-19")
            let same = try await a.download(id, as: ann, [part, ("If-Range", file.etag)])
            #expect(same.status == 206 && same.body == file.bytes[10..<20])
            for other in ["\"x\"", "W/\(file.etag)", "Mon, 23 Nov 2026 00:00:00 GMT"] {
                let answer = try await a.download(id, as: ann, [part, ("If-Range", other)])
                #expect(answer.status == 200 && answer.digest == file.digest, "\(other): \(answer.headers)")
            }
            let whole = try await a.download(id, as: ann)
            let head = try await a.transfer("HEAD", Attachments.path(id), as: ann)
            #expect(head.status == 200 && head.body.isEmpty)
            for (name, value) in whole.headers where !["date", "x-request-id"].contains(name) {
                #expect(head.headers[name] == value, "\(name)")
            }
            #expect(head.headers["content-length"] == "300000")
        }

        @Test("headers keep a browser from running or sniffing any file")
        func safety() async throws {
            let id = try await uploaded(TestFile.random(1_000).bytes)
            let headers = try await a.download(id, as: ann).headers
            #expect(headers["x-content-type-options"] == "nosniff")
            #expect(headers["content-security-policy"] == "sandbox; default-src 'none'")
            #expect(headers["cross-origin-resource-policy"] != nil)
            #expect(headers["cache-control"] == "private, max-age=31536000, immutable")
            let expiring = try await a.shared([id], in: thread, as: ann, more: ["expires_in_s": 600])
            #expect(try await a.download(id, as: bob).headers["cache-control"] == "no-store", "\(expiring)")
        }

        @Test("only pictures, films and sounds are inline; HTML, SVG and PDF never")
        func disposition() async throws {
            let pictures = try await TestPictures.shared()
            func padded(_ bytes: [UInt8]) -> Data { Data(bytes) + Data(count: 200) }
            let webm: [UInt8] = [0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42, 0x82, 0x84] + Array("webm".utf8)
            for (name, bytes, type, isInline) in [
                ("a.jpg", try pictures["small.jpg"], "image/jpeg", true),
                ("a.png", try pictures["small.png"], "image/png", true),
                ("a.gif", try pictures["small.gif"], "image/gif", true),
                ("a.webp", try pictures["small.webp"], "image/webp", true),
                (
                    "a.mp4", padded([0, 0, 0, 24] + Array("ftypisom".utf8) + [0, 0, 2, 0] + Array("isommp42".utf8)),
                    "video/mp4", true
                ),
                ("a.webm", padded(webm), "video/webm", true),
                (
                    "a.mp3", padded(Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, 0, 0xff, 0xfb, 0x90, 0x64]), "audio/mpeg",
                    true
                ),
                ("a.ogg", padded(Array("OggS".utf8) + [0, 2]), "application/ogg", true),
                ("a.html", Data("<!DOCTYPE html><script>alert(1)</script>".utf8), nil, false),
                (
                    "a.svg", Data("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>".utf8), nil,
                    false
                ),
                ("a.pdf", Data("%PDF-1.4\n%%EOF\n".utf8), nil, false),
                ("a.js", Data("alert(1)".utf8), nil, false), ("a.jpg", Data("<html>".utf8), nil, false),
            ] as [(String, Data, String?, Bool)] {
                let id = newID()
                #expect(try await a.put(bytes, id, name: name, type: "image/svg+xml", as: ann).status == 201)
                _ = try await a.ready(id, as: ann)
                let headers = try await a.download(id, as: ann).headers
                let disposition = headers["content-disposition"] ?? ""
                #expect(disposition.hasPrefix(isInline ? "inline" : "attachment"), "\(name): \(disposition)")
                let given = headers["content-type"] ?? ""
                if let type { #expect(given == type, "\(name)") }
                if !isInline {
                    #expect(!["text/html", "image/svg+xml"].contains { given.hasPrefix($0) }, "\(name): \(given)")
                }
            }
        }

        @Test("any name is safe in Content-Disposition")
        func names() async throws {
            for name in [
                "plain.txt", "quote\".txt", "back\\slash.txt", "line\r\nSet-Cookie: a=b.txt", "ünï côdé 👍.txt",
                "semi;colon=.txt", "../../etc/passwd", "tab\tnul\u{0}.txt", "\u{202e}gpj.exe", "%22%0d%0a.txt",
            ] {
                let id = newID()
                let answer = try await a.put(Data("hello".utf8), id, name: name, as: ann)
                guard answer.status == 201 else {
                    #expect(answer.status == 422, "\(name): \(answer)")
                    continue
                }
                let headers = try await a.download(id, as: ann).headers
                let disposition = headers["content-disposition"] ?? ""
                #expect(headers["set-cookie"] == nil)
                // What a parser sees: a quoted fallback without specials, and the exact name encoded.
                let form = /attachment; filename="[^"\\\r\n\/]*"(; filename\*=UTF-8''[A-Za-z0-9!#$&+.^_`|~%-]*)?/
                #expect(disposition.wholeMatch(of: form) != nil, "\(name): \(disposition)")
                let stored = answer.json["name"].string ?? ""
                if let encoded = disposition.firstRange(of: "UTF-8''") {
                    #expect(
                        String(disposition[encoded.upperBound...]).removingPercentEncoding == stored, "\(disposition)")
                } else {
                    #expect(disposition == "attachment; filename=\"\(stored)\"")
                }
            }
        }
    }
}
