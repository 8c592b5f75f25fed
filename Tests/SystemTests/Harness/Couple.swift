// What the tests of polls and of streams begin with: two people, and a thread in which nothing was said yet.

import Testing

/// Ann and Bob, who have a direct thread on the nodes that suites share.
struct Couple: Sendable {
    let nodes: Nodes
    let ann: Person
    let bob: Person
    let thread: String
    /// Bob's cursor from before anything was said.
    let start: String

    init() async throws {
        nodes = try await Nodes.shared()
        ann = try await nodes.a.curl.register("Ann")
        bob = try await nodes.a.curl.register("Bob")
        thread = try await nodes.a.curl.thread("direct", by: ann, with: [bob])
        start = try await nodes.a.curl.cursor(of: bob)
    }
}

/// A suite of tests with a couple each.
protocol CoupleTests {
    var couple: Couple { get }
}

extension CoupleTests {
    var nodes: Nodes { couple.nodes }
    var ann: Person { couple.ann }
    var bob: Person { couple.bob }
    var thread: String { couple.thread }
    var start: String { couple.start }

    /// Ann says so many things; gives their ids.
    func say(_ count: Int) async throws -> [String] {
        let connection = Connection(nodes.a.address)
        var ids: [String] = []
        for number in 0..<count { ids.append(try await connection.sent("\(number)", in: thread, as: ann)) }
        return ids
    }
}
