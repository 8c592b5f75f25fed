// The two people that most tests begin with, and the direct thread that many of them need.

import Testing

/// Ann and Bob, who have no threads yet. Ann registered at the first of the nodes that suites share, Bob at the second.
struct TwoPeople: Sendable {
    let nodes: TestNodes
    let ann: Person
    let bob: Person

    init() async throws {
        nodes = try await TestNodes.shared()
        ann = try await nodes.a.client.register("Ann")
        bob = try await nodes.b.client.register("Bob")
    }
}

/// A suite whose tests get two new people each.
protocol TwoPeopleSuite {
    var people: TwoPeople { get }
}

extension TwoPeopleSuite {
    var nodes: TestNodes { people.nodes }
    var ann: Person { people.ann }
    var bob: Person { people.bob }
}

/// A direct thread of Ann and Bob without a message.
struct DirectThread: Sendable {
    let people: TwoPeople
    let id: String
    /// Bob's cursor from before the first message.
    let start: String

    init() async throws {
        people = try await TwoPeople()
        let client = people.nodes.a.client
        id = try await client.thread("direct", by: people.ann, with: [people.bob])
        start = try await client.cursor(of: people.bob)
    }
}

/// A suite whose tests get a new direct thread each.
protocol DirectThreadSuite: TwoPeopleSuite {
    var direct: DirectThread { get }
}

extension DirectThreadSuite {
    var people: TwoPeople { direct.people }
    var thread: String { direct.id }
    var start: String { direct.start }

    /// Sends `count` messages from Ann and returns their ids.
    func say(_ count: Int) async throws -> [String] {
        let connection = Connection(nodes.a.address)
        var ids: [String] = []
        for number in 0..<count { ids.append(try await connection.sent("\(number)", in: thread, as: ann)) }
        return ids
    }
}
