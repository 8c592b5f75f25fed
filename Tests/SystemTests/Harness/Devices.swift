// Clients as they should be written: a sender that retries with the same id, a follower with one chain of cursors. Both
// go on at the next node when one doesn't answer.

import Foundation

/// How often each status came; 0 stands for no answer.
typealias Statuses = [Int: Int]

/// Sends messages until they are acknowledged.
struct Sender: Sendable {
    let person: Person
    let thread: String
    let addresses: [Address]

    struct Log: Sendable {
        /// Ids in the order sent.
        var acknowledged: [String] = []
        var statuses: Statuses = [:]
    }

    /// Sends one message after another until the traffic is over, each to the end of its own retries.
    func run(_ traffic: Traffic) async throws -> Log {
        var log = Log()
        let connections = addresses.map(Connection.init)
        var turn = Int.random(in: 0..<connections.count)
        while !traffic.isOver {
            let id = newID()
            let deadline = ContinuousClock.now + .seconds(40)
            while true {
                try Task.checkCancellation()
                let answer = try? await connections[turn].say(
                    "\(log.acknowledged.count)", in: thread, as: person, id: id)
                log.statuses[answer?.status ?? 0, default: 0] += 1
                if answer?.status == 201 || answer?.status == 200 { break }
                guard ContinuousClock.now < deadline else {
                    throw TimedOut(description: "message \(id): \(answer.map(\.description) ?? "no answer")")
                }
                turn = (turn + 1) % connections.count
                try await Task.sleep(for: .milliseconds(10))
            }
            log.acknowledged.append(id)
            traffic.count()
        }
        return log
    }
}

/// Follows the log from a cursor on.
struct Follower: Sendable {
    let person: Person
    let addresses: [Address]
    var waitS = 5
    var limit = 100

    struct Log: Sendable {
        var events: [JSON] = []
        var cursor: String
        var statuses: Statuses = [:]

        func messages(in thread: String) -> [JSON] {
            events.filter { $0["type"] == "message.created" && $0["thread_id"].string == thread }.map { $0["data"] }
        }
    }

    /// Polls until an event is the last one awaited.
    func run(
        from cursor: String, within limit: Duration = .seconds(60), until isLast: @Sendable (JSON) -> Bool
    ) async throws -> Log {
        var log = Log(cursor: cursor)
        let connections = addresses.map(Connection.init)
        var turn = 0
        let deadline = ContinuousClock.now + limit
        while true {
            try Task.checkCancellation()
            let answer = try? await connections[turn].sync(person, from: log.cursor, wait: waitS, limit: self.limit)
            log.statuses[answer?.status ?? 0, default: 0] += 1
            if let answer, answer.status == 200 {
                log.events += answer.json["events"].items
                log.cursor = answer.json["cursor"].string ?? "none"
                if answer.json["events"].items.contains(where: isLast) { return log }
            } else {
                turn = (turn + 1) % connections.count
                try await Task.sleep(for: .milliseconds(10))
            }
            guard ContinuousClock.now < deadline else {
                throw TimedOut(description: "the last event, after \(log.events.count): \(log.statuses), \(log.cursor)")
            }
        }
    }

    /// All events from a cursor to now, read in one go from one node.
    static func replay(_ person: Person, from cursor: String, on address: Address) async throws -> [JSON] {
        let connection = Connection(address)
        var events: [JSON] = []
        var cursor = cursor
        while true {
            let answer = try await connection.sync(person, from: cursor)
            guard answer.status == 200, let next = answer.json["cursor"].string else {
                throw TimedOut(description: "replay: \(answer)")
            }
            events += answer.json["events"].items
            cursor = next
            if answer.json["more"] != true { return events }
        }
    }
}
