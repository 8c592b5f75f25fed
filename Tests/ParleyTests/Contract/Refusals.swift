// Refusals, and answers that are not what the contract says.

import Foundation
import Testing

@testable import Parley

@Suite("A refusal", .timeLimit(.minutes(1)))
struct Refusals {
    private func response(_ status: Int, _ body: String, _ headers: [String: String] = [:]) -> HTTPResponse {
        HTTPResponse(status: status, headers: headers, body: Data(body.utf8))
    }

    @Test("has the code, the sentence, the fields, the wait and the request's id")
    func document() {
        let body = """
            {"type": "urn:parley:problem:rate_limited", "title": "Too many requests", "status": 429, "code": "rate_limited",
            "detail": "Retry after 30 s.", "errors": [{"field": "a", "detail": "b"}, {"detail": "no field"}], "more": 1}
            """
        let problem = Problem(response(429, body, ["retry-after": "30", "x-request-id": "4f97"]))
        #expect(problem.code == "rate_limited")
        #expect(problem.title == "Too many requests")
        #expect(problem.detail == "Retry after 30 s.")
        #expect(problem.errors == [.init(field: "a", detail: "b")])
        #expect(problem.retryAfter == .seconds(30))
        #expect(problem.requestID == "4f97")
        #expect(problem.document["more"] == 1)
        #expect(problem.description == "Retry after 30 s. a: b (rate_limited, 429)")
    }

    @Test(
        "that is no problem document has the status",
        arguments: ["", "<html>Bad gateway</html>", "[1]", "{\"code\": 5, \"errors\": 7}", "{\"code\": \"a\""])
    func foreign(_ body: String) {
        let problem = Problem(response(502, body, ["retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"]))
        #expect(problem.code == "unexpected_answer")
        #expect(problem.status == 502)
        #expect(problem.detail == "The server answered with status 502.")
        #expect(problem.errors.isEmpty)
        #expect(problem.retryAfter == nil)
        #expect(problem.isTemporary)
    }

    @Test("is temporary if the server is busy or down", arguments: [408, 429, 500, 502, 503, 504])
    func temporary(_ status: Int) { #expect(Problem(response(status, "")).isTemporary) }

    @Test("is final otherwise", arguments: [400, 401, 403, 404, 409, 410, 413, 415, 422, 501, 505])
    func final(_ status: Int) { #expect(!Problem(response(status, "")).isTemporary) }

    @Test("is final if the server sends no mail")
    func mail() { #expect(!Problem(response(503, #"{"code": "mail_not_configured"}"#)).isTemporary) }

    @Test(
        "is different from an answer that cannot be read",
        arguments: ["", "<html>", "null", "[]", "{}", #"{"id": "a", "name": 5}"#, "{\"id\": \"a\", \"name\": \"\u{7}"])
    func malformed(_ body: String) {
        let call: Call<User> = .users.get("018f3c2a-0001-7abc-8def-0123456789ab")
        #expect {
            _ = try call.read(response(200, body))
        } throws: { error in
            let error = error as? ParleyError
            return error?.kind == .unreadableAnswer && error?.cause is DecodingError
        }
    }

    @Test("of bytes that are not those asked for")
    func ranges() {
        let call: Call<FileAnswer> = .attachments.file("018f3c2a-4321-7abc-8def-0123456789ab", bytes: 0..<5)
        for range in ["", "bytes 0-4", "bytes 0-3/10", "bytes 0-5/10", "bytes 0-4/3", "bytes */10"] {
            #expect(throws: ParleyError.self, "\(range)") {
                try call.read(response(206, "bytes", ["content-range": range]))
            }
        }
    }

    @Test("of an export that broke off")
    func export() throws {
        let call: Call<Data> = .account.export()
        #expect(throws: ParleyError.self) { try call.read(response(200, "{\"type\": \"account\"}\n")) }
        #expect(throws: ParleyError.self) { try call.read(response(200, "")) }
        #expect(try call.read(response(200, "{\"type\": \"end\"}\n")).count == 16)
    }
}
