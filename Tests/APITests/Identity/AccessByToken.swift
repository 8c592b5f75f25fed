// docs/security.md, "Every call", against the route list: which token opens which call, and which scope a key needs.
import API
import Credentials
import Domain
import Foundation
import Store
import TestSupport
import Testing

@Suite("Access by token", .timeLimit(.minutes(1)))
struct AccessByToken {
    private struct Row: Sendable, CustomTestStringConvertible {
        let call: String
        /// The cells, by column.
        let cells: [String]
        let inThread: [String]

        var testDescription: String { call }
        /// The scope that a key needs; nil for a call that keys do not open.
        var scope: AdminScope? { AdminScope(rawValue: cells[3]) }
    }

    private static let columns = ["nobody", "ended", "session", "admin"]

    /// The rows of the table of calls, which begin with a method and a path in backquotes.
    private static let rows: [Row] = lines(of: "security.md").filter { $0[0].contains(/^`[A-Z]+ \//) }.map { cells in
        Row(
            call: String(cells[0].dropFirst().dropLast()), cells: Array(cells[1..<cells.count - 1]),
            inThread: cells.last == "–" ? [] : cells.last?.split(separator: "; ").map { String($0) } ?? [])
    }

    private static func lines(of page: String) -> [[String]] {
        let file = Repository.file("docs/\(page)")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
            line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
        }
    }

    @Test("each route has a row, and each row has a route")
    func tableIsWhole() async throws {
        let routes = try await TestNode.shared().routes.map { "\($0.method.rawValue) \($0.pattern)" }
        #expect(
            Set(routes).symmetricDifference(Self.rows.map(\.call)).sorted() == [],
            "Each needs a row in docs/security.md, section \"Every call\", and a route in Sources/API.")
        #expect(Self.rows.count == routes.count)
        #expect(Self.lines(of: "security.md").contains(["call"] + Self.columns + ["in a thread"]))
        #expect(Self.rows.allSatisfy { $0.cells.count == Self.columns.count })
    }

    @Test("each admin call names its scope, and each scope says what its holder can do")
    func scopesAreWhole() async throws {
        let routes = try await TestNode.shared().routes.filter { $0.pattern.hasPrefix("/v1/admin/") }
        for route in routes {
            let row = Self.rows.first { $0.call == "\(route.method.rawValue) \(route.pattern)" }
            #expect(row?.scope == route.adminScope && route.adminScope != nil, "\(route.pattern)")
        }
        let described = Self.lines(of: "security.md").map { $0[0] }
        for scope in AdminScope.allCases { #expect(described.contains("`\(scope.rawValue)`"), "\(scope.rawValue)") }
    }

    @Test("each call in a thread names its rows of access.md, and each row there has a call")
    func rowsOfAccess() throws {
        let known = Set(Self.lines(of: "access.md").dropFirst(2).map { $0[0] })
        #expect(
            known.symmetricDifference(Self.rows.flatMap(\.inThread)).sorted() == [],
            "Each must be a row of docs/access.md, and in the last column of \"Every call\" in docs/security.md.")
        for row in Self.rows where row.call.contains("/v1/threads/{thread_id}") {
            #expect(!row.inThread.isEmpty, "\(row.call): its last column must name a row of docs/access.md")
        }
    }

    @Test("each cell agrees with the service, and threads of others are not accessible", arguments: rows)
    private func cells(_ row: Row) async throws {
        let ann = try await Person.make("ann")
        let thread = try await ann.client.post("/v1/threads", #"{"kind":"group"}"#).string("id")
        let message = try await ann.say("hello", in: thread).string("id")
        let ended = try await Person.make("ended")
        #expect(try await ended.client.post("/v1/auth/logout").status == 204)
        let tokens = [
            nil, ended.client.token, try await Person.make("bob").client.token, TestNode.adminToken,
        ]
        let path = Self.path(row, ["{thread_id}": thread, "{message_id}": message, "{user_id}": ann.id])
        for (index, token) in tokens.enumerated() {
            let reply = try await Self.send(row, path, token: token)
            let wanted = row.scope == nil ? row.cells[index] : index < 3 ? "sign in" : "yes"
            #expect(Self.verdict(reply) == wanted, "\(Self.columns[index]): \(reply.status) \(reply.text)")
            if row.call.contains("/v1/threads/{thread_id}"), !path.contains("/admin/") {
                #expect(!(200..<300).contains(reply.status), "\(Self.columns[index]): \(reply.text)")
            }
        }
    }

    @Test("a key opens the calls of its scope and no other, until it expires or is revoked", arguments: rows)
    private func keys(_ row: Row) async throws {
        let keys = try await Self.keys.value
        let path = Self.path(row)
        for (scope, token) in keys.tokens {
            let reply = try await Self.send(row, path, token: token)
            if let needed = row.scope {
                let isRefused = reply.status == 403 && reply.problemCode == "scope_missing"
                #expect(isRefused == (scope != needed), "\(scope.rawValue): \(reply.text)")
                #expect(reply.status != 401, "\(scope.rawValue): \(reply.text)")
                if isRefused { #expect(try reply.string("detail").contains("`\(needed.rawValue)`")) }
            } else {
                // To other calls a key is no token.
                #expect(Self.verdict(reply) == row.cells[0], "\(scope.rawValue): \(reply.text)")
            }
        }
        guard row.scope != nil else { return }
        for token in [keys.expired, keys.revoked] {
            #expect(try await Self.send(row, path, token: token).problemCode == "invalid_token")
        }
    }

    /// One key for each scope, and two with all scopes that are refused.
    private struct Keys: Sendable {
        var tokens: [(AdminScope, String)] = []
        var expired = ""
        var revoked = ""
    }

    private static let keys = Task {
        let store = try await TestNode.shared().store
        let actor = AdminActor(name: "test", requestID: nil)
        func key(_ scopes: [AdminScope], expiresAt: Timestamp? = nil) async throws -> (AdminKeyID, String) {
            let (id, token) = (AdminKeyID.make(), AdminKeyToken.random())
            let key = NewAdminKey(id: id, digest: token.digest, name: "test", scopes: scopes, expiresAt: expiresAt)
            _ = try await store.createAdminKey(key, by: actor)
            return (id, token.text)
        }
        var keys = Keys()
        for scope in AdminScope.allCases { keys.tokens.append((scope, try await key([scope]).1)) }
        keys.expired = try await key(AdminScope.allCases, expiresAt: Timestamp(microsSince1970: 1)).1
        let revoked = try await key(AdminScope.allCases)
        try await store.deleteAdminKey(revoked.0, by: actor)
        keys.revoked = revoked.1
        return keys
    }

    /// The path of a row with the given ids, and with unknown ones for the others.
    private static func path(_ row: Row, _ ids: [String: String] = [:]) -> String {
        let unknown = [
            "{emoji}": "%F0%9F%91%8D", "{token}": "x", "{thread_id}": ThreadID.make().description,
            "{message_id}": MessageID.make().description, "{user_id}": UserID.make().description,
            "{session_id}": SessionID.make().description, "{attachment_id}": AttachmentID.make().description,
            "{hook_id}": HookID.make().description, "{report_id}": ReportID.make().description,
            "{invitation_id}": InvitationID.make().description,
            "{command_id}": CommandID.make().description, "{key_id}": AdminKeyID.make().description,
        ]
        let pattern = String(row.call.split(separator: " ")[1])
        return unknown.merging(ids) { $1 }.reduce(pattern) { $0.replacingOccurrences(of: $1.key, with: $1.value) }
    }

    private static func send(_ row: Row, _ path: String, token: String?) async throws -> Reply {
        let method = String(row.call.prefix { $0 != " " })
        var client = try await Client()
        client.token = token
        return try await client.send(method, path, body: method == "GET" ? nil : "{}")
    }

    private static func verdict(_ reply: Reply) -> String {
        reply.status == 401 && reply.problemCode != "wrong_credentials" ? "sign in" : "yes"
    }
}
