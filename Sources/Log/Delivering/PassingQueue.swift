// Events that are not stored, on their way to the other nodes: coalesced, bounded, packed into payloads. Pure.
import Domain

/// Events to publish next. Of several events of one user in one place only the last is published, at most once a
/// second. When the queue is full, further events are lost; events that are not stored may be.
struct PassingQueue {
    /// A user who types in a thread, or a user's presence.
    private struct Key: Hashable {
        let user: UserID
        let thread: ThreadID?
    }

    static let countMax = 10_000
    /// The shortest interval between events of one key, in calls of `take`.
    static let spacing = 4

    private var waiting: [Key: PassingEvent] = [:]
    private var order: [Key] = []
    /// The call of `take` from which on each key may be published again. Only keys of the last second.
    private var notBefore: [Key: Int] = [:]
    private var takeCount = 0

    /// - Parameter isTyping: otherwise it is presence, which is one for all of a user's threads.
    mutating func add(_ event: PassingEvent, isTyping: Bool) {
        let key = Key(user: event.user, thread: isTyping ? event.threads.first : nil)
        guard waiting[key] != nil || waiting.count < Self.countMax else { return }
        if waiting.updateValue(event, forKey: key) == nil { order.append(key) }
    }

    /// Removes and returns the events to publish now, in the order of their arrival. Called at regular intervals.
    mutating func take() -> [PassingEvent] {
        takeCount += 1
        let now = takeCount
        if !notBefore.isEmpty { notBefore = notBefore.filter { $0.value > now } }
        var taken: [PassingEvent] = []
        order.removeAll { key in
            guard notBefore[key] == nil, let event = waiting.removeValue(forKey: key) else { return false }
            notBefore[key] = now + Self.spacing
            taken.append(event)
            return true
        }
        return taken
    }
}

/// The texts of notifications, which `PassingSeal` seals: one event in each line, `user thread,thread body`.
enum PassingPayload {
    static let byteCountMax = PassingSeal.textByteCountMax
    /// The most threads of one line; a user with more gets several lines.
    static let threadCountMax = 100

    static func pack(_ events: [PassingEvent]) -> [String] {
        var payloads: [String] = []
        var payload = ""
        for event in events {
            for line in lines(of: event) {
                if payload.utf8.count + line.utf8.count + 1 > byteCountMax {
                    payloads.append(payload)
                    payload = ""
                }
                payload += payload.isEmpty ? line : "\n" + line
            }
        }
        if !payload.isEmpty { payloads.append(payload) }
        return payloads
    }

    private static func lines(of event: PassingEvent) -> [String] {
        stride(from: 0, to: event.threads.count, by: threadCountMax).map { start in
            let threads = event.threads[start..<min(start + threadCountMax, event.threads.count)]
            let list = threads.map(\.description).joined(separator: ",")
            return "\(event.user) \(list) \(String(decoding: event.body.utf8, as: UTF8.self))"
        }
    }

    /// Returns the events of a text. Skips lines of another form, which a later release may send. The body becomes a
    /// part of answers, so it must be one of the two events of docs/events.md, about this user and this thread.
    static func unpack(_ payload: String) -> [PassingEvent] {
        payload.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: " ", maxSplits: 2)
            guard parts.count == 3, let user = UserID(parsing: parts[0]) else { return nil }
            let threads = parts[1].split(separator: ",").prefix(threadCountMax + 1).map { ThreadID(parsing: $0) }
            guard threads.count <= threadCountMax, threads.allSatisfy({ $0 != nil }) else { return nil }
            let event = PassingEvent(
                user: user, threads: threads.compactMap { $0 }, body: JSONText(utf8: Array(parts[2].utf8)))
            return event.isOfContract ? event : nil
        }
    }
}

extension PassingEvent {
    /// Whether the body is `typing` or `presence.updated` exactly as docs/events.md describes it.
    var isOfContract: Bool {
        guard let event = try? JSONReader.read(body.utf8, .init(depthMax: 2)), event["at"]?.isTime == true,
            let data = event["data"], let subject = data["user_id"]?.string, UserID(parsing: subject) == user
        else { return false }
        switch event["type"]?.string {
        case "typing":
            guard event.hasKeys(["type", "thread_id", "at", "data"]), data.hasKeys(["user_id"]),
                let thread = event["thread_id"]?.string.flatMap({ ThreadID(parsing: $0) })
            else { return false }
            return threads == [thread]
        case "presence.updated":
            guard event.hasKeys(["type", "at", "data"]), data.hasKeys(["user_id", "presence", "last_seen_at"]),
                let presence = data["presence"], let lastSeen = data["last_seen_at"]
            else { return false }
            return (presence == .null || ["online", "offline"].contains(presence.string))
                && (lastSeen == .null || lastSeen.isTime)
        default:
            return false
        }
    }
}

extension JSONValue {
    fileprivate var isTime: Bool { string.flatMap { Timestamp(parsing: $0) } != nil }

    /// Whether this is an object with these members, each once, and no others.
    fileprivate func hasKeys(_ keys: Set<String>) -> Bool {
        guard let members = object else { return false }
        return members.count == keys.count && Set(members.map(\.key)) == keys
    }
}
