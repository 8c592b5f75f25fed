// One row of the bad-input tables: a request and the problem that must answer it.

import Foundation
import Testing

/// One row. `statuses` holds more than one where the contract leaves it open; the code is checked when given.
struct Refusal: Sendable {
    var request: Request
    var statuses: Set<Int>
    var code: String?
    /// A field that the problem's `errors` must name.
    var field: String?
    /// A 2xx is accepted, too, because the value is unusual but valid.
    var mayPass = false
    let sourceLocation: SourceLocation

    init(
        _ method: String, _ path: String, _ statuses: Set<Int>, code: String? = nil, field: String? = nil,
        as person: Person? = nil, json: JSON? = nil, raw: Data? = nil, headers: [(name: String, value: String)] = [],
        mayPass: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        request = Request(method, path)
        request.headers = headers
        if let person { request.headers.append(("Authorization", "Bearer \(person.token)")) }
        if let body = json?.data ?? raw {
            request.body = body
            if !request.headers.contains(where: { $0.name == "Content-Type" }) {
                request.headers.append(("Content-Type", "application/json"))
            }
        }
        self.statuses = statuses
        self.code = code
        self.field = field
        self.mayPass = mayPass
        self.sourceLocation = sourceLocation
    }

    static func expect(_ refusals: [Refusal], from node: Node) async throws {
        try await withThrowingTaskGroup(of: (Refusal, Answer).self) { group in
            var rest = refusals[...]
            // Enough requests at once to keep two cores busy.
            for refusal in rest.prefix(4) { group.addTask { (refusal, try await node.curl.send(refusal.request)) } }
            rest = rest.dropFirst(4)
            while let (refusal, answer) = try await group.next() {
                refusal.check(answer, from: node)
                if let next = rest.popFirst() { group.addTask { (next, try await node.curl.send(next.request)) } }
            }
        }
        #expect(try await node.curl.get("/health/ready").status == 200)
        // None of the requests caused a line with the level error.
        #expect(!node.program.errors.contains(" error "), "\(node.program.errors)")
    }

    func check(_ answer: Answer, from node: Node) {
        let note: Comment = "\(Curl.reproduction(request, node.address))\n-> \(answer)"
        if mayPass, (200..<300).contains(answer.status) { return }
        #expect(statuses.contains(answer.status), note, sourceLocation: sourceLocation)
        if let code { #expect(answer.code == code, note, sourceLocation: sourceLocation) }
        if let field {
            let named = answer.json["errors"].items.contains { $0["field"].string == field }
            #expect(named, note, sourceLocation: sourceLocation)
        }
        answer.expectProblem(note, sourceLocation: sourceLocation)
    }
}

extension Answer {
    /// Expects an RFC 9457 document as the contract defines it, with the headers of its status.
    func expectProblem(_ note: Comment, sourceLocation: SourceLocation) {
        let mediaType = headers["content-type"] ?? "none"
        #expect(mediaType.hasPrefix("application/problem+json"), note, sourceLocation: sourceLocation)
        #expect(json["status"].int == status, note, sourceLocation: sourceLocation)
        for key in ["type", "title", "detail", "code"] {
            #expect(json[key].string?.isEmpty == false, note, sourceLocation: sourceLocation)
        }
        let isWord = json["code"].string?.wholeMatch(of: /[a-z][a-z0-9_]*/) != nil
        #expect(isWord, note, sourceLocation: sourceLocation)
        switch status {
        case 401:
            #expect(headers["www-authenticate"]?.hasPrefix("Bearer") == true, note, sourceLocation: sourceLocation)
        case 405: #expect(headers["allow"]?.isEmpty == false, note, sourceLocation: sourceLocation)
        case 422:
            let errors = json["errors"].items
            let areNamed = errors.allSatisfy { $0["field"].string != nil && $0["detail"].string?.isEmpty == false }
            #expect(!errors.isEmpty && areNamed, note, sourceLocation: sourceLocation)
        case 429, 503: #expect(headers["retry-after"] != nil, note, sourceLocation: sourceLocation)
        default: break
        }
        // Problems must not reveal the implementation.
        for word in ["SQLSTATE", "relation", "libpq", "plpgsql", "Swift", "PY4", "22P0"] {
            #expect(!text.contains(word), note, sourceLocation: sourceLocation)
        }
    }
}

/// The chat that the refusals are about: Ann owns a group with Bob, where Ivy is only invited; Eve is a stranger.
struct Stage: Sendable {
    let node: Node
    let ann: Person
    let bob: Person
    let ivy: Person
    let eve: Person
    let group: String
    let direct: String
    /// Ann's only message in each.
    let groupMessage: String
    let directMessage: String

    static func set() async throws -> Stage {
        let node = try await TestNodes.shared().a
        let curl = node.curl
        async let first = curl.register("Ann")
        async let second = curl.register("Bob")
        async let third = curl.register("Ivy")
        async let fourth = curl.register("Eve")
        let (ann, bob, ivy, eve) = try await (first, second, third, fourth)
        let group = try await curl.thread("group", by: ann, with: [bob])
        let invited = try await curl.put("/v1/threads/\(group)/members/\(ivy.id)", ["status": "invited"], as: ann)
        try #require(invited.status == 200 || invited.status == 201, "\(invited)")
        let direct = try await curl.thread("direct", by: ann, with: [bob])
        return Stage(
            node: node, ann: ann, bob: bob, ivy: ivy, eve: eve, group: group, direct: direct,
            groupMessage: try await curl.sent("in the group", in: group, as: ann),
            directMessage: try await curl.sent("in private", in: direct, as: ann))
    }

    var messages: String { "/v1/threads/\(group)/messages" }
    var receipts: String { "/v1/threads/\(group)/receipts" }
}
