// Correct clients: a sender that retries with the same id, a follower with one chain of cursors. Both switch to the
// next node when one does not answer.

import Foundation
import TestSupport

/// How often each status was received; 0 stands for no answer.
typealias Statuses = [Int: Int]

/// Sends messages until they are acknowledged; marks and deletes some, as people do.
struct Sender: Sendable {
    let person: Person
    let threads: [String]
    let addresses: [Address]
    /// How long one message is retried.
    var patience: Duration = .seconds(90)
    /// The pause between an acknowledgement and the next message.
    var pause: Duration = .zero

    struct Log: Sendable {
        /// By thread, in the order sent.
        var acknowledged: [String: [String]] = [:]
        var statuses: Statuses = [:]
        /// Messages that took more than one attempt.
        var retriedCount = 0
    }

    /// Sends one message after another until the traffic is over. Retries each message until it is acknowledged.
    func run(_ traffic: Traffic) async throws -> Log {
        var log = Log()
        let connections = addresses.map(Connection.init)
        var turn = Int.random(in: 0..<connections.count)
        var count = 0
        while !traffic.isOver {
            let id = newID()
            let thread = threads[Int.random(in: 0..<threads.count)]
            let deadline = ContinuousClock.now + patience
            var stored: Answer
            var tryCount = 0
            while true {
                try Task.checkCancellation()
                tryCount += 1
                let answer = try? await connections[turn].say("\(count)", in: thread, as: person, id: id)
                log.statuses[answer?.status ?? 0, default: 0] += 1
                traffic.count(answer?.status ?? 0)
                if let answer, answer.status == 201 || answer.status == 200 {
                    stored = answer
                    break
                }
                guard ContinuousClock.now < deadline else {
                    throw TimedOut(description: "message \(id): \(answer.map(\.description) ?? "no answer")")
                }
                turn = (turn + 1) % connections.count
                try await Task.sleep(for: .milliseconds(10))
            }
            log.acknowledged[thread, default: []].append(id)
            log.retriedCount += tryCount > 1 ? 1 : 0
            count += 1
            await doMore(count, stored.json["seq"].int ?? 1, id, in: thread, on: connections[turn])
            if pause > .zero { try await Task.sleep(for: pause) }
        }
        return log
    }

    /// Makes a call for its events only; its result is ignored.
    private func doMore(_ count: Int, _ seq: Int, _ id: String, in thread: String, on connection: Connection) async {
        if count % 10 == 0 {
            let mark: JSON = ["read": .init(max(1, seq - Int.random(in: 0...5)))]
            _ = try? await connection.put("/v1/threads/\(thread)/receipts", mark, as: person)
        }
        if count % 25 == 0 {
            _ = try? await connection.delete("/v1/threads/\(thread)/messages/\(id)?for=everyone", as: person)
        }
    }
}

/// Joins a room and leaves it, repeatedly.
struct Wanderer: Sendable {
    let person: Person
    let room: String
    let addresses: [Address]

    func run(_ traffic: Traffic) async throws {
        let connections = addresses.map(Connection.init)
        let path = "/v1/threads/\(room)/members/me"
        while !traffic.isOver {
            for isComing in [true, false] {
                let connection = connections[Int.random(in: 0..<connections.count)]
                _ =
                    isComing
                    ? try? await connection.put(path, ["status": "joined"], as: person)
                    : try? await connection.delete(path, as: person)
                try await Task.sleep(for: .milliseconds(.random(in: 20...200)))
            }
        }
    }
}

/// Follows the log from a cursor.
struct Follower: Sendable {
    let person: Person
    let addresses: [Address]
    var waitS = 5
    var limit = 100
    /// Whether each poll goes to the next node; otherwise only a poll after a failure does.
    var hops = false
    /// Whether to use server-sent events instead of polling.
    var streams = false

    struct Log: Sendable {
        let person: Person
        var seenEvents: [SeenEvent] = []
        var cursor: String
        var statuses: Statuses = [:]
        var pollCount = 0
        var reloads: [ReloadAnswer] = []
    }

    /// Polls until the awaited last event, and reports each poll to the traffic.
    func run(
        _ traffic: Traffic, from cursor: String, within limit: Duration, until isLast: @Sendable (SeenEvent) -> Bool
    ) async throws -> Log {
        var log = Log(person: person, cursor: cursor)
        let connections = addresses.map(Connection.init)
        var turn = 0
        let deadline = ContinuousClock.now + limit
        while true {
            try Task.checkCancellation()
            if streams {
                if await follow(connections[turn], traffic, &log, by: deadline, until: isLast) { return log }
                turn = (turn + 1) % connections.count
                guard ContinuousClock.now < deadline else {
                    throw TimedOut(
                        description: "the last event, after \(log.seenEvents.count) of a stream: \(log.statuses)")
                }
                continue
            }
            let answer = try? await connections[turn].sync(person, from: log.cursor, wait: waitS, limit: self.limit)
            log.statuses[answer?.status ?? 0, default: 0] += 1
            log.pollCount += 1
            traffic.countPoll()
            if let answer, answer.status == 200 {
                let page = try SyncPage(parsing: answer.body)
                traffic.countEvents(page.events.count)
                log.seenEvents += page.events
                log.cursor = page.cursor
                if page.events.contains(where: isLast) { return log }
            } else if let answer, let reload = ReloadAnswer(answer, to: log.cursor, after: log.seenEvents.count) {
                log.reloads.append(reload)
                log.cursor = reload.fresh
            } else {
                try await Task.sleep(for: .milliseconds(10))
            }
            if hops || answer?.status != 200 { turn = (turn + 1) % connections.count }
            guard ContinuousClock.now < deadline else {
                throw TimedOut(
                    description: "the last event, after \(log.seenEvents.count): \(log.statuses), \(log.cursor)")
            }
        }
    }

    /// Returns all events from a cursor to now, read from one node.
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

    /// The same, reduced to seen events.
    static func seenEvents(_ person: Person, from cursor: String, on address: Address) async throws -> [SeenEvent] {
        let connection = Connection(address)
        var seenEvents: [SeenEvent] = []
        var cursor = cursor
        while true {
            let answer = try await Connection.whenAvailable {
                try await connection.sync(person, from: cursor, limit: 200)
            }
            guard answer.status == 200 else { throw TimedOut(description: "replay: \(answer)") }
            let page = try SyncPage(parsing: answer.body)
            seenEvents += page.events
            cursor = page.cursor
            if !page.more { return seenEvents }
        }
    }
}
