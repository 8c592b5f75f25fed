// docs/security.md, "Every call", against the route list: which token opens which call.
import API
import Domain
import Foundation
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
        let parts = row.call.split(separator: " ")
        let path = [
            "{thread_id}": thread, "{message_id}": message, "{user_id}": ann.id, "{emoji}": "%F0%9F%91%8D",
            "{session_id}": SessionID.make().description, "{attachment_id}": AttachmentID.make().description,
            "{hook_id}": HookID.make().description, "{report_id}": ReportID.make().description, "{token}": "x",
            "{command_id}": CommandID.make().description,
        ].reduce(String(parts[1])) { $0.replacingOccurrences(of: $1.key, with: $1.value) }
        for (index, token) in tokens.enumerated() {
            var client = try await Client()
            client.token = token
            let reply = try await client.send(String(parts[0]), path, body: parts[0] == "GET" ? nil : "{}")
            let found = reply.status == 401 && reply.problemCode != "wrong_credentials" ? "sign in" : "yes"
            #expect(found == row.cells[index], "\(Self.columns[index]): \(reply.status) \(reply.text)")
            if row.call.contains("/v1/threads/{thread_id}"), !path.contains("/admin/") {
                #expect(!(200..<300).contains(reply.status), "\(Self.columns[index]): \(reply.text)")
            }
        }
    }
}
