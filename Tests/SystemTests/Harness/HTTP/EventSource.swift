// A client of server-sent events, like a browser's EventSource.

import Foundation

/// A stream of one person's events. The test itself reconnects.
struct EventSource: Sendable {
    /// The lines up to an empty line.
    struct Block: Sendable {
        var id: String?
        /// The id of an event; nil for a heartbeat.
        var data: String?
        var isComment = false

        init(_ text: String) {
            for line in text.split(separator: "\n") {
                if line.hasPrefix("id: ") { id = String(line.dropFirst(4)) }
                if line.hasPrefix("data: ") { data = String(line.dropFirst(6)) }
                if line.hasPrefix(":") { isComment = true }
            }
        }

        var json: JSON { data.flatMap { try? JSON(parsing: Data($0.utf8)) } ?? .null }
    }

    let connection: Connection
    /// The head, or the whole answer of a refusal.
    let answer: Answer

    init(
        _ connection: Connection, as person: Person, from cursor: String? = nil, lastEventID: String? = nil,
        limit: Int = 100
    ) async throws {
        self.connection = connection
        var request = Request("GET", "/v1/sync?limit=\(limit)\(cursor.map { "&cursor=\($0)" } ?? "")")
        request.headers = [("Authorization", "Bearer \(person.token)"), ("Accept", "text/event-stream")]
        if let lastEventID { request.headers.append(("Last-Event-ID", lastEventID)) }
        answer = try await connection.open(request)
    }

    /// Returns the next block; nil at the stream's end.
    func next(within limit: Duration = .seconds(30)) async throws -> Block? {
        try await connection.nextBlock(within: limit).map(Block.init)
    }

    /// Returns `count` events, or fewer if the stream ends, without receipts and presence.
    func events(_ count: Int, within limit: Duration = .seconds(30)) async throws -> [Block] {
        var events: [Block] = []
        while events.count < count, let block = try await next(within: limit) {
            if block.data != nil, !unaskedEvents.contains(block.json["type"].string ?? "") { events.append(block) }
        }
        return events
    }
}

extension Follower {
    /// Reads one stream to its end, or disconnects early; returns true once the last event was received.
    func follow(
        _ connection: Connection, _ traffic: Traffic, _ log: inout Log, by deadline: ContinuousClock.Instant,
        until isLast: @Sendable (SeenEvent) -> Bool
    ) async -> Bool {
        log.pollCount += 1
        traffic.countPoll()
        let seen = log.seenEvents.count
        var status = 0
        do {
            let source = try await EventSource(connection, as: person, lastEventID: log.cursor, limit: limit)
            status = source.answer.status
            log.statuses[status, default: 0] += 1
            if let reload = ReloadAnswer(source.answer, to: log.cursor, after: seen) {
                log.reloads.append(reload)
                log.cursor = reload.fresh
            }
            if status != 200 { try await Task.sleep(for: .milliseconds(10)) }
            // A heartbeat is due every 20 s. With heartbeats alone the stream would never end.
            while status == 200, !Task.isCancelled, ContinuousClock.now < deadline,
                let block = try await source.next(within: .seconds(40))
            {
                if let data = block.data {
                    let sighting = try JSONDecoder().decode(SeenEvent.self, from: Data(data.utf8))
                    if !SyncPage.passing.contains(sighting.type) {
                        log.seenEvents.append(sighting)
                        traffic.countEvents(1)
                    }
                    if isLast(sighting) { return true }
                }
                if let id = block.id { log.cursor = id }
                // Disconnects while bytes are in transit.
                if hops, log.seenEvents.count - seen >= 37 { break }
            }
        } catch {
            // A stream of a killed node breaks off; that does not count as an answer.
            if status == 0 { log.statuses[0, default: 0] += 1 }
            try? await Task.sleep(for: .milliseconds(10))
        }
        await connection.close()
        return false
    }
}
