// What devices were asked to send, what they accepted, and whether the database has it.

import TestSupport

/// Every send once, in the order in which its device accepted it, and no message besides.
struct SendLedger: Sendable {
    private struct Accepted: Sendable {
        let id: String
        let thread: String
        let token: String
    }

    /// By the token in the text; the value is the device.
    private var intended: [String: Int] = [:]
    /// By device, in their order.
    private var accepted: [Int: [Accepted]] = [:]
    /// Messages that people took back, or sent again after a failure: these lose their place.
    private var movedIDs: Set<String> = []
    private var cancelledIDs: Set<String> = []

    var acceptedCount: Int { accepted.values.reduce(0) { $0 + $1.count } }

    /// Records what a device is about to be asked.
    mutating func intend(_ command: [String: JSON], on device: Int) {
        if command["do"] == "send", let token = command["text"]?.string { intended[token] = device }
    }

    /// Records an answer. A device that was killed gives none: its message may be stored or not.
    mutating func record(_ command: [String: JSON], _ answer: JSON, on device: Int) {
        guard let id = answer["message"].string else { return }
        switch command["do"] {
        case "send":
            let token = command["text"]?.string ?? ""
            accepted[device, default: []].append(
                Accepted(id: id, thread: answer["thread"].string ?? "", token: token))
        case "cancel": cancelledIDs.insert(id)
        case "retry": movedIDs.insert(id)
        default: break
        }
    }

    /// Compares with the messages in the database.
    /// - Parameter failed: the messages that devices show as failed, and the reason, by id.
    func differences(in database: String, failed: [String: String]) async throws -> [String] {
        let stored = try await StoredMessage.all(in: database)
        let byID = Dictionary(grouping: stored, by: \.id)
        var lines = byID.filter { $1.count > 1 }.keys.map { "message \($0) is stored more than once" }
        let texts = Dictionary(grouping: stored.filter { $0.token != "" }, by: \.token)
        lines += texts.filter { $1.count > 1 }.map { "\($0) is stored as \($1.map(\.id))" }
        for (device, messages) in accepted {
            var latest: [String: StoredMessage] = [:]
            for message in messages {
                guard let row = byID[message.id]?.first else {
                    if failed[message.id] != nil || cancelledIDs.contains(message.id) { continue }
                    lines.append("device \(device): \(message.token) (\(message.id)) was accepted and is not stored")
                    continue
                }
                if let reason = failed[message.id] {
                    lines.append("\(message.token) is stored and shown as \(reason.prefix(300))")
                }
                if row.thread != message.thread { lines.append("\(message.token) is in another thread") }
                if row.token != "", row.token != message.token {
                    lines.append("\(message.token) (\(message.id)) is stored as \(row.token)")
                }
                if movedIDs.contains(message.id) { continue }
                if let before = latest[row.thread], before.seq > row.seq {
                    lines.append("device \(device): \(message.token) has seq \(row.seq), its predecessor \(before.seq)")
                }
                latest[row.thread] = row
            }
        }
        return lines + inventions(stored)
    }

    /// Messages that no device accepted must be sends whose device was killed before it answered.
    private func inventions(_ stored: [StoredMessage]) -> [String] {
        let known = Set(accepted.values.joined().map(\.id))
        let unanswered = Set(intended.keys).subtracting(accepted.values.joined().map(\.token))
        let others = stored.filter { !known.contains($0.id) }
        let invented = others.filter { $0.token != "" && !unanswered.contains($0.token) }
        guard others.count <= unanswered.count else {
            return ["\(others.count) messages were not accepted, and only \(unanswered.count) sends unanswered"]
        }
        return invented.map { "nobody sent \($0.token) (\($0.id))" }
    }
}

/// A message of a person, as the database has it.
private struct StoredMessage: Sendable {
    let id: String
    let thread: String
    let seq: Int
    /// The first word of the text, which edits keep. Empty: the text is deleted.
    let token: String

    /// psql's output is bounded, so this reads a few rows at a time.
    static func all(in database: String, limit: Int = 500) async throws -> [StoredMessage] {
        var found: [StoredMessage] = []
        while true {
            let text = try await Psql.run(
                """
                select id, thread_id, seq, split_part(payload->>'text', ' ', 1) from messages
                where sender_id is not null order by thread_id, seq offset \(found.count) limit \(limit)
                """, conninfo: database)
            let rows = text.split(separator: "\n").map { line in
                let fields = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
                return StoredMessage(id: fields[0], thread: fields[1], seq: Int(fields[2]) ?? 0, token: fields[3])
            }
            found += rows
            if rows.count < limit { return found }
        }
    }
}
