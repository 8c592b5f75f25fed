// Nodes that ask a policy, on one database, and people on them.
import Domain
import ServiceConfiguration
import TestSupport
import Testing

/// A policy with two nodes that accept messages while it does not answer.
struct PolicyStage: Sendable {
    let policy: PolicyServer
    let nodes: [TestNode]

    private static let start = Task { try await PolicyStage() }

    static func shared() async throws -> PolicyStage { try await start.value }

    /// - Parameter change: changes the settings of the nodes.
    init(nodeCount: Int = 2, _ change: (inout Settings) -> Void = { _ in }) async throws {
        let policy = try await PolicyServer.start()
        self.policy = policy
        var nodes: [TestNode] = []
        for _ in 0..<nodeCount {
            nodes.append(
                try await TestNode(on: nodes.first?.database) { settings in
                    settings.policyURL = policy.url
                    // The machines of CI are shared. The tests of slow answers have a shorter timeout.
                    settings.policyTimeoutMs = 5_000
                    change(&settings)
                })
        }
        self.nodes = nodes
    }

    var admin: Client { Client(port: nodes[0].port, token: TestNode.adminToken) }

    static func newID() -> String { MessageID.make().description }

    /// Ann and Bob in a group of Ann's, on the first node.
    func people() async throws -> (ann: Person, bob: Person, thread: String) {
        let ann = try await Person.make("Ann", port: nodes[0].port)
        let bob = try await Person.make("Bob", port: nodes[0].port)
        return (ann, bob, try await ann.group(with: [bob], title: "Tea"))
    }

    /// The same person on another node.
    func on(_ node: Int, _ person: Person) -> Client {
        Client(port: nodes[node].port, token: person.client.token)
    }

    func sql(_ query: String) async throws -> String { try await Psql.run(query, conninfo: nodes[0].database) }
}

extension Client {
    /// The texts that people have sent to a thread.
    func texts(in thread: String) async throws -> [String?] {
        let page = try await get("/v1/threads/\(thread)/messages")
        return (page["messages"]?.array ?? []).filter { $0["type"] != .string("system") }
            .map { $0["payload"]?["text"]?.string }
    }

    func say(_ text: String, in thread: String, id: String? = nil, more: String = "") async throws -> Reply {
        let id = id.map { #""id":"\#($0)","# } ?? ""
        return try await post("/v1/threads/\(thread)/messages", #"{\#(id)"payload":{"text":"\#(text)"}\#(more)}"#)
    }

    func edit(_ message: String, in thread: String, to text: String) async throws -> Reply {
        try await patch("/v1/threads/\(thread)/messages/\(message)", #"{"payload":{"text":"\#(text)"}}"#)
    }
}
