// docs/openapi.yaml lists exactly what there is.
import API
import Domain
import Testing
import Yams

@Suite("The description of the API")
struct DescriptionOfTheAPI {
    private func description() throws -> Node { try #require(try Yams.compose(yaml: OpenAPI.text)) }

    private static let methods: Set<String> = ["get", "put", "post", "delete", "patch", "head", "options", "trace"]

    @Test("lists each route with its operation and whether it needs a token, and nothing else")
    func listsRoutes() async throws {
        var described: Set<String> = []
        for (path, item) in try #require(try description()["paths"]?.mapping) {
            for (method, operation) in try #require(item.mapping) where Self.methods.contains(method.string ?? "") {
                let isOpen = operation["security"]?.sequence?.isEmpty == true
                described.insert(
                    "\(method.string?.uppercased() ?? "") \(path.string ?? "") \(operation["operationId"]?.string ?? "")"
                        + (isOpen ? " open" : ""))
            }
        }
        let routes = try await TestNode.shared().routes.map {
            "\($0.method.rawValue) \($0.pattern) \($0.operation)" + ($0.needsToken ? "" : " open")
        }
        #expect(routes.count == Set(routes).count)
        #expect(described.symmetricDifference(routes).sorted() == [])
    }

    @Test("declares each parameter of a path")
    func declaresParameters() throws {
        let description = try description()
        for (path, item) in try #require(description["paths"]?.mapping) {
            let wanted = (path.string ?? "").split(separator: "/").filter { $0.first == "{" }.map {
                $0.dropFirst().dropLast()
            }
            for (method, operation) in try #require(item.mapping) where Self.methods.contains(method.string ?? "") {
                let declared = [item["parameters"], operation["parameters"]].flatMap {
                    $0?.sequence.map(Array.init) ?? []
                }
                .map { Self.resolve($0, in: description) }
                .filter { $0["in"]?.string == "path" }.compactMap { $0["name"]?.string }
                #expect(Set(declared) == Set(wanted.map { String($0) }), "\(method.string ?? "") \(path.string ?? "")")
            }
        }
    }

    @Test("lists each problem code")
    func listsCodes() throws {
        let codes = try description()["components"]?["schemas"]?["ProblemCode"]?["enum"]?.sequence?.compactMap(\.string)
        #expect(codes == ProblemCode.allCases.map(\.rawValue))
    }

    @Test("is held against each answer: a member too many, too few or of another type is noticed, as is a status")
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
            // A payload may have any shape that some app gives it.
            #expect(changed.isEmpty == piece.contains("text"), "\(piece)")
        }
    }

    private static func resolve(_ node: Node, in description: Node) -> Node {
        guard let reference = node["$ref"]?.string else { return node }
        return reference.dropFirst(2).split(separator: "/").reduce(description) { $0[String($1)] ?? $0 }
    }
}

@Suite("The table of routes")
struct TableOfRoutes {
    @Test("tells the methods of a path, a literal before a parameter")
    func tellsMethods() async throws {
        let table = RouteTable(try await TestNode.shared().routes)
        func methods(_ path: String) -> Set<String> { Set(table.methods(for: path).map(\.rawValue)) }
        #expect(methods("/v1/users/me") == ["GET", "HEAD", "PATCH", "DELETE"])
        #expect(methods("/v1/users/you") == ["GET", "HEAD"])
        #expect(methods("/v1/threads/x/members/me") == ["PUT", "DELETE"])
        #expect(methods("/v1/sync") == ["GET", "HEAD"])
        #expect(methods("/v1/sync/x").isEmpty)
        #expect(methods("/").isEmpty)
    }
}
