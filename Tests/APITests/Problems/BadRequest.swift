// A row of the tables of bad requests, and the threads and people that the tables use.
import Domain
import Testing

/// A request and the problem that must answer it.
struct BadRequest: Sendable {
    let method: String
    let path: String
    /// More than one where the contract leaves the status open.
    let statuses: Set<Int>
    let code: String?
    /// A field that the problem's `errors` must name.
    let field: String?
    let person: Person?
    let body: [UInt8]?
    let type: String
    let headers: [String]
    let sourceLocation: SourceLocation

    init(
        _ method: String, _ path: String, _ statuses: Set<Int>, code: String? = nil, field: String? = nil,
        as person: Person? = nil, _ body: String? = nil, bytes: [UInt8]? = nil, type: String = "application/json",
        headers: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        self.method = method
        self.path = path
        self.statuses = statuses
        self.code = code
        self.field = field
        self.person = person
        self.body = body.map { Array($0.utf8) } ?? bytes
        self.type = type
        self.headers = headers
        self.sourceLocation = sourceLocation
    }

    /// Sends the requests, four at once, and checks each answer. The node must be ready afterwards.
    static func expect(_ requests: [BadRequest]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<4 {
                group.addTask {
                    for index in stride(from: lane, to: requests.count, by: 4) { try await requests[index].expect() }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await Client().get("/health/ready").status == 200)
    }

    /// Sends the request, checks the answer, and returns it.
    @discardableResult
    func expect() async throws -> Reply {
        let client = if let person { person.client } else { try await Client() }
        let reply = try await client.send(method, path, bytes: body, type: type, headers: headers)
        let note: Comment =
            "\(method) \(path.prefix(200)) \(String(decoding: body?.prefix(200) ?? [], as: UTF8.self)): \(reply.text)"
        #expect(statuses.contains(reply.status), note, sourceLocation: sourceLocation)
        if let code { #expect(reply.problemCode == code, note, sourceLocation: sourceLocation) }
        if let field { #expect(reply.errorFields.contains(field), note, sourceLocation: sourceLocation) }
        reply.expectProblem(note, sourceLocation: sourceLocation)
        return reply
    }
}

extension Reply {
    /// Expects a problem document as the contract defines it (RFC 9457), with the headers of its status.
    func expectProblem(_ note: Comment, sourceLocation: SourceLocation = #_sourceLocation) {
        let isWord = problemCode?.wholeMatch(of: /[a-z][a-z0-9_]*/) != nil
        #expect(isWord, note, sourceLocation: sourceLocation)
        switch status {
        case 401:
            #expect(headers["www-authenticate"]?.hasPrefix("Bearer") == true, note, sourceLocation: sourceLocation)
        case 405: #expect(headers["allow"]?.isEmpty == false, note, sourceLocation: sourceLocation)
        case 422:
            let errors = self["errors"]?.array ?? []
            let areNamed = errors.allSatisfy { $0["field"]?.string != nil && $0["detail"]?.string?.isEmpty == false }
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

/// Ann owns a group with Bob, where Ivy is only invited. Ann and Bob also have a direct thread. Eve is a stranger.
struct ProblemStage: Sendable {
    let ann: Person
    let bob: Person
    let ivy: Person
    let eve: Person
    let group: String
    let direct: String
    /// Ann's only message in each.
    let groupMessage: String
    let directMessage: String

    init() async throws {
        (ann, bob) = (try await .make("Ann"), try await .make("Bob"))
        (ivy, eve) = (try await .make("Ivy"), try await .make("Eve"))
        group = try await ann.group(with: [bob])
        let invitation = try await ann.client.put(
            "/v1/threads/\(group)/members/\(ivy.id)", #"{"status":"invited"}"#)
        try #require(invitation.status == 200, "\(invitation.text)")
        direct = try await ann.direct(with: bob)
        groupMessage = try await ann.say("in the group", in: group).string("id")
        directMessage = try await ann.say("in private", in: direct).string("id")
    }

    var path: String { "/v1/threads/\(group)" }
    var messages: String { "\(path)/messages" }
    var receipts: String { "\(path)/receipts" }
    var message: String { "\(messages)/\(groupMessage)" }
}

/// Returns an id that nothing has.
func unknownID() -> String { MessageID.make().description }
