// Signed links and the media cookie: the ways to an attachment without an Authorization header.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Links and cookies of attachments", .timeLimit(.minutes(3)))
    struct MediaLinks: TwoPeopleSuite {
        let people: TwoPeople
        private let file = TestFile.random(2_000)
        private let id: String

        init() async throws {
            people = try await TwoPeople()
            id = try await Connection(people.nodes.a.address).uploaded(file.bytes, as: people.ann)["id"].string ?? ""
        }

        private var a: Connection { Connection(nodes.a.address) }
        private var b: Connection { Connection(nodes.b.address) }

        @Test("a link works on every node without a header, for GET, HEAD and ranges")
        func works() async throws {
            let answer = try await a.post(Attachments.path(id, "/link"), ["seconds": 60], as: ann)
            #expect(answer.status == 200 && answer.json["expires_at"].string != nil, "\(answer)")
            #expect(
                answer.json["url"].string?.hasPrefix("http://127.0.0.1:\(nodes.a.address.port)/") == true, "\(answer)")
            let link = try await a.link(id, as: ann)
            for caller in [a, b] {
                #expect(try await caller.get(link).digest == file.digest)
                #expect(try await caller.call("HEAD", link).status == 200)
                let part = try await caller.call("GET", link, headers: [("Range", "bytes=0-9")])
                #expect(part.status == 206 && part.body == file.bytes.prefix(10))
            }
            for body in [["seconds": 0], ["seconds": 86_401], ["variant": "x"], ["what": 1]] as [JSON] {
                #expect(try await a.post(Attachments.path(id, "/link"), body, as: ann).status == 422, "\(body)")
            }
        }

        @Test("a link opens no other call")
        func otherCalls() async throws {
            let link = try await a.link(id, as: ann)
            let query = link[(link.firstIndex(of: "?") ?? link.endIndex)...]
            #expect([401, 404, 422].contains(try await b.get(Attachments.path(id, "/info\(query)")).status))
            #expect([401, 404, 422].contains(try await b.delete(Attachments.path(id, "\(query)")).status))
        }

        @Test("a link ends at its time, and with the session that asked for it")
        func ends() async throws {
            let short = try await a.link(id, ["seconds": 5], as: ann)
            #expect(try await b.get(short).status == 200)
            try await eventually("the link to expire", every: .milliseconds(100)) {
                try await b.get(short).status == 404 ? true : nil
            }
            let phone = try await a.logIn(again: ann)
            let link = try await a.link(id, as: phone)
            #expect(try await b.get(link).status == 200)
            #expect(try await a.call("POST", "/v1/auth/logout", as: phone).status == 204)
            for caller in [a, b] { #expect(try await caller.get(link).status == 404) }
        }

        @Test("the cookie ends with its session")
        func cookieEnds() async throws {
            let phone = try await a.logIn(again: ann)
            let cookie = try await a.mediaCookie(of: phone)
            #expect(try await b.call("GET", Attachments.path(id), headers: cookie).status == 200)
            #expect(try await a.delete("/v1/sessions/\(phone.session)", as: ann).status == 204)
            for caller in [a, b] {
                #expect(
                    [401, 404].contains(try await caller.call("GET", Attachments.path(id), headers: cookie).status))
            }
        }
    }
}
