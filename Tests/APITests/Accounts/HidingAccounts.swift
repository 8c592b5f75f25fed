// With a closed registration and the directory off, no call tells who has an account.
import Domain
import Foundation
import ServiceConfiguration
import TestSupport
import Testing
import Yams

@testable import API

@Suite("Who has an account, behind a closed service", .timeLimit(.minutes(2)), .serialized)
struct HidingAccounts {
    /// Members of requests that name somebody.
    private static let names: Set = [
        "username", "email", "user_id", "user_ids", "members", "mentions", "external_id", "query",
    ]

    private static let node = Task {
        try await TestNode(on: TestNode.shared().database) {
            $0.registration = .closed
            $0.limits.directory = .off
            $0.mailServer = MailServer("smtp://127.0.0.1:1?starttls=off")
            $0.mailSender = MailSender("chat@parley.example")
        }
    }

    private struct Scene {
        let known: [Naming: String]
        let unknown: [Naming: String]
        let caller: Client
        let anonymous: Client
        let thread: String
    }

    private static func names(id: String) -> [Naming: String] {
        let word = "h\(UserID.make().description.suffix(12))"
        return [
            .username: word, .email: "\(word)@mail.example", .externalID: "\(word)-7", .id: id,
            .prefixedExternalID: "ext:\(word)-7",
        ]
    }

    private static func scene() async throws -> Scene {
        let node = try await node.value
        let (caller, somebody) = (try await Person.make("Ann"), try await Person.make("Ben"))
        let known = names(id: somebody.id)
        let column = { (naming: Naming) in "'\(known[naming] ?? "")'" }
        _ = try await Psql.run(
            """
            update users set username = \(column(.username)), username_key = \(column(.username)),
                email = \(column(.email)), email_key = \(column(.email)), external_id = \(column(.externalID))
            where id = \(column(.id))
            """, conninfo: node.database)
        return Scene(
            known: known, unknown: names(id: UserID.make().description),
            caller: Client(port: node.port, token: caller.client.token), anonymous: Client(port: node.port),
            thread: try await caller.group())
    }

    /// What the caller sees of the answer to a request, without what differs in any case: names, ids and times.
    private static func answer(_ call: CallByName, _ name: String, _ client: Client, _ thread: String) async throws
        -> String
    {
        let reply = try await client.send(
            call.method, call.path(naming: name, thread: thread), body: call.body(naming: name))
        let headers = reply.headers.filter { !["date", "content-length", "x-request-id"].contains($0.key) }
            .map { "\($0.key): \($0.value)" }.sorted()
        return "\(reply.status) \(headers) \(reply.text)".replacing(name, with: "NAME")
            .replacing(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/, with: "ID")
            .replacing(/\d{4}-\d\d-\d\dT[\d:.]+Z/, with: "TIME").replacing(/"seq" ?: ?\d+/, with: "SEQ")
    }

    @Test("is tried with each call that takes a name: add a new call to `CallByName.all`")
    func table() throws {
        let description = try #require(try Yams.compose(yaml: OpenAPI.text))
        var operations: Set<String> = []
        for (path, item) in try #require(description["paths"]?.mapping)
        where path.string?.hasPrefix("/v1/admin") == false {
            for (_, operation) in try #require(item.mapping) {
                guard let name = operation["operationId"]?.string else { continue }
                let lists = [item["parameters"], operation["parameters"]].flatMap { $0?.sequence.map(Array.init) ?? [] }
                let parameters = lists.map { resolved($0, in: description)["name"]?.string ?? "" }
                let body = operation["requestBody"].map { members(of: $0, in: description, depth: 0) } ?? []
                if !Self.names.isDisjoint(with: body.union(parameters)), !["searchRooms"].contains(name) {
                    operations.insert(name)
                }
            }
        }
        #expect(operations == Set(CallByName.all.keys))
    }

    private func resolved(_ node: Yams.Node, in description: Yams.Node) -> Yams.Node {
        guard let reference = node["$ref"]?.string else { return node }
        return reference.split(separator: "/").dropFirst().reduce(description) { $0[String($1)] ?? $0 }
    }

    /// The names of all members of a request's body.
    private func members(of node: Yams.Node, in description: Yams.Node, depth: Int) -> Set<String> {
        let node = resolved(node, in: description)
        guard depth < 12 else { return [] }
        switch node {
        case .mapping(let mapping):
            let own = mapping["properties"]?.mapping?.keys.compactMap(\.string) ?? []
            // What a message says is content, not a request about somebody.
            let rest = mapping.filter { $0.key.string != "payload" && $0.key.string != "example" }.map(\.value)
            return rest.reduce(into: Set(own)) { $0.formUnion(members(of: $1, in: description, depth: depth + 1)) }
        case .sequence(let items):
            return items.reduce(into: []) { $0.formUnion(members(of: $1, in: description, depth: depth + 1)) }
        case .scalar, .alias: return []
        }
    }

    @Test("is not in the answer to any call, signed in or not")
    func hides() async throws {
        let scene = try await Self.scene()
        for (operation, calls) in CallByName.all.sorted(by: { $0.key < $1.key }) {
            for call in calls {
                for naming in call.namings {
                    let (known, unknown) = (try #require(scene.known[naming]), try #require(scene.unknown[naming]))
                    for client in [scene.anonymous, scene.caller] {
                        let right = try await Self.answer(call, known, client, scene.thread)
                        let wrong = try await Self.answer(call, unknown, client, scene.thread)
                        #expect(right == wrong, "\(operation) by \(naming), token: \(client.token != nil)")
                    }
                }
            }
        }
    }

    @Test("is not in the answer to a call of the admin API without an admin token")
    func hidesFromUsers() async throws {
        let scene = try await Self.scene()
        let routes = try await TestNode.shared().routes.filter { $0.adminScope != nil }
        let withUser = routes.filter { "\($0.pattern)".contains("{user_id}") }
        #expect(!withUser.isEmpty)
        let queries = [
            "/v1/admin/users?username=$", "/v1/admin/users?query=$", "/v1/admin/users?external_id=$",
            "/v1/admin/users?email=$",
        ]
        let all =
            withUser.map { route in
                let path = "\(route.pattern)".replacing("{user_id}", with: "$").replacing(/\{[a-z_]+\}/, with: "x")
                return CallByName(route.method.rawValue, path)
            } + queries.map { CallByName("GET", $0) }
        for call in all {
            for naming in call.namings {
                let (known, unknown) = (try #require(scene.known[naming]), try #require(scene.unknown[naming]))
                for client in [scene.anonymous, scene.caller] {
                    let right = try await Self.answer(call, known, client, scene.thread)
                    let wrong = try await Self.answer(call, unknown, client, scene.thread)
                    #expect(right == wrong, "\(call) by \(naming)")
                }
            }
        }
    }
}
