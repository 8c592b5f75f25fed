// Downloads: ranges, entity tags, and headers that make any file safe to serve.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Downloading files", .timeLimit(.minutes(3)))
    struct DownloadingFiles: DirectThreadSuite {
        let direct: DirectThread

        init() async throws { direct = try await DirectThread() }

        private var a: Connection { Connection(nodes.a.address) }

        private func uploaded(_ bytes: Data, name: String? = nil) async throws -> String {
            try await Connection(nodes.b.address).uploaded(bytes, name: name, as: ann)["id"].string ?? ""
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
