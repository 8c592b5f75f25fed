// People who each know a different part of a lost tail, next to the traffic's people, who know all of it.

import Foundation
import TestSupport
import Testing

/// Ann writes to Cora, Dan and Eve. Cora has received none of the lost messages, Dan's poll waits while they are lost,
/// and Eve has received all of them.
struct LostTailWitnesses: Sendable {
    private struct Friend: Sendable {
        let person: Person
        let thread: String
        var cursor: String
    }

    private let addresses: [Address]
    private let ann: Person
    private let cora: Friend
    private let dan: Friend
    private var eve: Friend
    /// Dan's, whose answer is not read before `checkDelivery`.
    private let waiting: Connection

    /// Each of them has received one message.
    static func gather(at addresses: [Address]) async throws -> LostTailWitnesses {
        let connection = Connection(try #require(addresses.first))
        let ann = try await connection.register("Ann")
        var friends: [Friend] = []
        for name in ["Cora", "Dan", "Eve"] {
            let person = try await connection.register(name)
            let thread = try await connection.thread("direct", by: ann, with: [person])
            _ = try await connection.sent("before", in: thread, as: ann)
            // Otherwise the node writes the mark itself at some later time, perhaps within the lost tail.
            _ = try await connection.put("/v1/threads/\(thread)/receipts", ["read": 1], as: person)
            friends.append(Friend(person: person, thread: thread, cursor: try await connection.cursor(of: person)))
        }
        let waiting = Connection(try #require(addresses.last))
        var request = Request("GET", "/v1/sync?cursor=\(friends[1].cursor)&wait=50")
        request.headers = [("Authorization", "Bearer \(friends[1].person.token)")]
        try await waiting.begin(request)
        return LostTailWitnesses(
            addresses: addresses, ann: ann, cora: friends[0], dan: friends[1], eve: friends[2], waiting: waiting)
    }

    /// Ann sends the messages that will be lost, and Eve receives them.
    mutating func writeTail() async throws {
        let connection = Connection(try #require(addresses.first))
        _ = try await connection.sent("lost", in: cora.thread, as: ann)
        let ids = [
            try await connection.sent("lost", in: eve.thread, as: ann),
            try await connection.sent("lost, too", in: eve.thread, as: ann),
        ]
        let seen = try await connection.sync(eve.person, from: eve.cursor)
        #expect(seen.told.map { $0["data"]["id"].string } == ids)
        eve.cursor = try #require(seen.json["cursor"].string)
    }

    /// Cora and Dan continue normally; Eve has to reload her thread, at every node and at any later time.
    func checkDelivery() async throws {
        let connections = addresses.map(Connection.init)
        var fresh: [String] = []
        for connection in connections {
            let answer = try await eventually("Eve's cursor to be refused") { () -> Answer? in
                let answer = try await connection.sync(eve.person, from: eve.cursor)
                if answer.status == 410 { return answer }
                // For a moment a node may not have noticed the loss; until then it has no new events either.
                #expect(answer.status == 200 && answer.told.isEmpty, "\(answer)")
                return nil
            }
            #expect(answer.headers["content-type"] == "application/problem+json")
            #expect(answer.json["status"] == 410 && answer.code == "cursor_expired", "\(answer)")
            #expect(answer.json.keys.isSuperset(of: ["type", "title", "detail"]), "\(answer)")
            #expect(answer.json["threads"] == [["id": .string(eve.thread), "head": 1]], "\(answer)")
            fresh.append(try #require(answer.json["cursor"].string))
        }
        #expect(try await connections[0].history(of: eve.thread, as: eve.person).map { $0["seq"] } == [1])

        for friend in [cora, eve] {
            let id = try await connections[0].sent("after", in: friend.thread, as: ann)
            for (number, connection) in connections.enumerated() {
                let cursor = friend.thread == eve.thread ? fresh[number] : friend.cursor
                let answer = try await connection.sync(friend.person, from: cursor)
                #expect(answer.told.map { $0["data"]["id"].string } == [id], "\(answer)")
                #expect(answer.told.first?["data"]["seq"] == 2)
            }
        }
        let id = try await connections[0].sent("after", in: dan.thread, as: ann)
        var answer = try await waiting.receive()
        // A node that restarts its log answers waiting polls without events; Dan already has the earlier message.
        for _ in 0..<3 {
            guard answer.status == 200, let cursor = answer.json["cursor"].string,
                answer.told.isEmpty
            else { break }
            answer = try await connections[0].sync(dan.person, from: cursor)
        }
        #expect(answer.status == 200 && answer.told.map { $0["data"]["id"].string } == [id], "\(answer)")

        // The log has grown beyond Eve's position, and her cursor is still refused.
        for connection in connections {
            #expect(try await connection.sync(eve.person, from: eve.cursor).status == 410)
        }
    }
}
