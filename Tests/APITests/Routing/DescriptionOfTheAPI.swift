// docs/openapi.yaml lists exactly the routes that exist.
import Domain
import Pictures
import Testing
import Yams

@testable import API

@Suite("The OpenAPI document", .timeLimit(.minutes(1)))
struct DescriptionOfTheAPI {
    private func description() throws -> Node { try #require(try Yams.compose(yaml: OpenAPI.text)) }

    private static let methods: Set<String> = ["get", "put", "post", "delete", "patch", "head", "options", "trace"]

    @Test("lists each route with its operation, whether it needs a token, and the scope of an admin call")
    func listsRoutes() async throws {
        var described: Set<String> = []
        for (path, item) in try #require(try description()["paths"]?.mapping) {
            for (method, operation) in try #require(item.mapping) where Self.methods.contains(method.string ?? "") {
                // No scheme at all, or an empty one among others: it can be called without a token.
                let security = operation["security"]?.sequence
                let isOpen = security.map { $0.isEmpty || $0.contains { $0.mapping?.isEmpty == true } } ?? false
                let scopes = operation["security"]?.sequence?.first?["adminKey"]?.sequence?.compactMap(\.string)
                described.insert(
                    "\(method.string?.uppercased() ?? "") \(path.string ?? "") \(operation["operationId"]?.string ?? "")"
                        + (isOpen ? " open" : scopes.map { " \($0)" } ?? ""))
            }
        }
        let routes = try await TestNode.shared().routes.map {
            "\($0.method.rawValue) \($0.pattern) \($0.operation)"
                + ($0.adminScope.map { " \([$0.rawValue])" } ?? ($0.needsToken ? "" : " open"))
        }
        #expect(routes.count == Set(routes).count)
        #expect(
            described.symmetricDifference(routes).sorted() == [],
            "Each is either in docs/openapi.yaml or among the routes of Sources/API, and must be in both.")
    }

    @Test("says which calls take an Idempotency-Key")
    func idempotencyKeys() async throws {
        var described: Set<String> = []
        for (_, item) in try #require(try description()["paths"]?.mapping) {
            for (method, operation) in try #require(item.mapping) where Self.methods.contains(method.string ?? "") {
                let parameters = operation["parameters"]?.sequence.map(Array.init) ?? []
                if parameters.contains(where: { $0["$ref"]?.string == "#/components/parameters/idempotencyKey" }) {
                    described.insert(operation["operationId"]?.string ?? "")
                }
            }
        }
        let routes = try await TestNode.shared().routes.filter { $0.repeats == .kept }.map { "\($0.operation)" }
        #expect(described == Set(routes))
    }

    @Test("declares each parameter of a path")
    func declaresParameters() throws {
        let description = try description()
        for (path, item) in try #require(description["paths"]?.mapping) {
            let words = (path.string ?? "").split(separator: "/")
            let wanted = Set(words.filter { $0.first == "{" }.map { String($0.dropFirst().dropLast()) })
            for (method, operation) in try #require(item.mapping) where Self.methods.contains(method.string ?? "") {
                let lists: [Node?] = [item["parameters"], operation["parameters"]]
                let declared = lists.flatMap { $0?.sequence.map(Array.init) ?? [] }
                    .map { Self.resolve($0, in: description) }
                    .filter { $0["in"]?.string == "path" }.compactMap { $0["name"]?.string }
                #expect(Set(declared) == wanted, "\(method.string ?? "") \(path.string ?? "")")
            }
        }
    }

    @Test("names the schema of each request and answer, describes the items of arrays, and has no operation twice")
    func isReadyForGenerators() throws {
        let description = try description()
        var operations: [String] = []
        var mistakes: [String] = []
        func check(_ body: Node?, of operation: String) {
            for (type, content) in body.map({ Self.resolve($0, in: description) })?["content"]?.mapping ?? [:]
            where content["schema"]?["$ref"] == nil {
                mistakes.append("\(operation): the schema of \(type.string ?? "") has no name")
            }
        }
        for (_, item) in try #require(description["paths"]?.mapping) {
            for (method, operation) in try #require(item.mapping) where Self.methods.contains(method.string ?? "") {
                let name = operation["operationId"]?.string ?? ""
                operations.append(name)
                check(operation["requestBody"], of: name)
                for (_, response) in operation["responses"]?.mapping ?? [:] { check(response, of: name) }
            }
        }
        #expect(mistakes == [])
        #expect(Set(operations).count == operations.count)
        #expect(Self.arraysWithoutItems(description) == 0)
    }

    private static func arraysWithoutItems(_ node: Node) -> Int {
        switch node {
        case .mapping(let mapping):
            let types = mapping["type"].map { $0.sequence?.compactMap(\.string) ?? [$0.string ?? ""] } ?? []
            let isBare = types.contains("array") && mapping["items"] == nil
            return mapping.values.reduce(isBare ? 1 : 0) { $0 + arraysWithoutItems($1) }
        case .sequence(let items): return items.reduce(0) { $0 + arraysWithoutItems($1) }
        case .scalar, .alias: return 0
        }
    }

    @Test("lists each type that a file may have, and any other one for imported files")
    func listsMediaTypes() throws {
        let types = MediaType.allCases.map(\.rawValue) + ["application/octet-stream", "*/*"]
        for name in ["File", "FilePart"] {
            let content = try description()["components"]?["responses"]?[name]?["content"]?.mapping
            #expect(content?.keys.compactMap(\.string) == types, "\(name)")
        }
    }

    @Test("lists each scope of admin keys")
    func listsScopes() throws {
        let scopes = try description()["components"]?["schemas"]?["AdminScope"]?["enum"]?.sequence?.compactMap(\.string)
        #expect(scopes == AdminScope.allCases.map(\.rawValue))
    }

    @Test("lists each problem code")
    func listsCodes() throws {
        let codes = try description()["components"]?["schemas"]?["ProblemCode"]?["enum"]?.sequence?.compactMap(\.string)
        #expect(codes == ProblemCode.allCases.map(\.rawValue))
    }

    @Test("is checked against each answer: extra, missing or mistyped members and statuses are detected")
    func noticesDifferences() async throws {
        let ann = try await Person.make("Ann")
        let thread = try await ann.group()
        try await ann.say("hi", in: thread)
        let description = try Description.shared.get()
        func mistakes(_ text: String, status: Int = 200) -> [String] {
            let reply = Reply(
                status: status, headers: ["content-type": "application/json"], body: Array(text.utf8))
            return description.mistakes(method: "GET", path: "/v1/inbox?limit=1", reply: reply)
        }
        let inbox = try await ann.client.get("/v1/inbox").text
        #expect(mistakes(inbox).isEmpty)
        #expect(!mistakes(inbox, status: 201).isEmpty)
        for (piece, other) in [
            (#""pinned" : false"#, #""pinned" : false, "starred" : true"#), (#""pinned" : false, "#, ""),
            (#""pinned" : false"#, #""pinned" : 0"#), (#""role" : "owner""#, #""role" : "king""#),
            (#""text":"hi""#, #""text":7"#), (#""seq":1"#, #""seq":-1"#),
            (#""deleted_at":null"#, #""deleted_at":"today""#),
        ] {
            #expect(inbox.contains(piece))
            let changed = mistakes(inbox.replacing(piece, with: other))
            // A payload may have any shape.
            #expect(changed.isEmpty == piece.contains("text"), "\(piece)")
        }
    }

    private static func resolve(_ node: Node, in description: Node) -> Node {
        guard let reference = node["$ref"]?.string else { return node }
        return reference.dropFirst(2).split(separator: "/").reduce(description) { $0[String($1)] ?? $0 }
    }
}

@Suite("The route table", .timeLimit(.minutes(1)))
struct TableOfRoutes {
    @Test("returns the methods of a path, literals before parameters")
    func tellsMethods() async throws {
        let table = RouteTable(try await TestNode.shared().routes)
        func methods(_ path: String) -> Set<String> { Set(table.methods(for: path).map(\.rawValue)) }
        #expect(methods("/v1/users/me") == ["GET", "HEAD", "PATCH", "DELETE"])
        #expect(methods("/v1/users/you") == ["GET", "HEAD"])
        #expect(methods("/v1/threads/x/members/me") == ["PUT", "DELETE"])
        #expect(methods("/v1/sync") == ["GET", "HEAD"])
        #expect(methods("/v1/sync/x").isEmpty)
        #expect(methods("/").isEmpty)
        // A fixed segment without a route does not hide a parameter.
        #expect(methods("/v1/sessions/current") == ["DELETE"])
    }

    @Test(
        "matches fixed segments byte for byte, and no empty segment",
        arguments: [
            "/v1/users/me/", "/v1/users//me", "//v1/users/me", "v1/users/me", "/v1/inbox;a", "/v1/inbox;a=b",
            "/v1;/users/me", "/V1/users/me", "/v1/Users/me", "/v1/%75sers/me", "/v1/users%2Fme", "/v1/users/",
            "/v1/users/me/blocks/", "/v1/threads//messages", "", "*", "/v1/users\u{0}/me", "/v1/./users/me",
            "/v1/users/../users/me",
        ])
    func bytes(_ path: String) async throws {
        let table = RouteTable(try await TestNode.shared().routes)
        #expect(table.methods(for: path).isEmpty)
    }

    @Test("returns path parameters as they were sent, percent-encoding included")
    func parameters() async throws {
        let table = RouteTable(try await TestNode.shared().routes)
        let path = "/v1/threads/T/messages/a;b/reactions/%F0%9F%91%8D"
        guard case .route(let route, let parameters) = table.find(.put, path[...]) else {
            Issue.record("no route")
            return
        }
        #expect(route.operation == .putReaction)
        #expect(parameters["thread_id"] == "T" && parameters["message_id"] == "a;b")
        #expect(parameters["emoji"] == "%F0%9F%91%8D" && parameters["user_id"] == nil)
    }

    @Test("agrees with the shortcuts before it: the long poll's path, and the send path for every id")
    func shortcuts() async throws {
        let table = RouteTable(try await TestNode.shared().routes)
        let id = ThreadID.make()
        guard case .route(let route, let parameters) = table.find(.post, "/v1/threads/\(id)/messages") else {
            Issue.record("no route")
            return
        }
        #expect(route.operation == .sendMessage && parameters["thread_id"] == "\(id)"[...])
        for path in ["/v1/threads/\(id)/messages/", "//v1/threads/\(id)/messages", "/v1/threads/\(id);a/messages"] {
            #expect(SendEndpoint.thread(of: path[...]) == nil)
        }
        #expect(SendEndpoint.thread(of: "/v1/threads/\(id)/messages") == id)
    }

    @Test("has a size limit for each body: a message, a thousand marks, little where no body is needed")
    func bodies() async throws {
        let limits = Limits()
        func byteCountMax(_ operation: OperationID) async throws -> Int? {
            let routes = try await TestNode.shared().routes
            return routes.first { $0.operation == operation }?.body.byteCountMax(limits)
        }
        #expect(try await byteCountMax(.sendMessage) == limits.bodyByteCountMax)
        #expect(try await byteCountMax(.editMessage) == limits.bodyByteCountMax)
        #expect(try await byteCountMax(.getInbox) == 4_096)
        #expect(try await byteCountMax(.login) == 32 * 1024)
        #expect(try await byteCountMax(.createThread) == limits.plainBodyByteCountMax)
        let entry =
            #"{ "thread_id": "\#(ThreadID.make())", "read": 9223372036854775807, "delivered": 9223372036854775807 }, "#
        #expect(try await byteCountMax(.putReceipts) ?? 0 >= ReceiptCalls.countMax * entry.utf8.count)
        // The bytes of uploads and archives are never held together.
        let held = Route.Body.allCases.filter { $0 != .upload && $0 != .archive }
        #expect(held.allSatisfy { $0.byteCountMax(limits) <= limits.bodyByteCountMax })
    }
}
