// What is known of a room of Matrix after the first reading of its file.
import Domain

struct MatrixRoom {
    struct Person {
        var name: String?
        var isJoined = false
    }

    /// The last edit of a message.
    struct Edit {
        var sender: String
        var time: Timestamp
        var content: JSONValue
    }

    struct Reaction {
        var sender: String
        var key: String
        var time: Timestamp
    }

    let file: String
    var id: String?
    var name: String?
    var topic: String?
    var creator: String?
    var createdAt: Timestamp?
    var hasMessages = false
    var isDirect = false
    var source = ""
    var thread: ThreadID?
    var people: [String: Person] = [:]
    /// By the event that they change.
    var edits: [String: Edit] = [:]
    var reactions: [String: [Reaction]] = [:]
    var redacted: Set<String> = []
    /// Events that others reply to. A `MessageID` is there once the message is written.
    var parents: [String: MessageID?] = [:]

    init(file: String) { self.file = file }

    mutating func read(_ item: JSONItems.Item, _ builder: ArchiveBuilder) throws {
        switch item.key {
        case "room_name": name = item.value.string.flatMap { $0.isEmpty ? nil : $0 }
        case "topic": topic = item.value.string.flatMap { $0.isEmpty ? nil : $0 }
        case "room_creator": creator = item.value.string.flatMap { $0.hasPrefix("@") ? $0 : nil }
        case "messages":
            hasMessages = true
            if item.index != nil { try readEvent(item.value, "\(file), \(item.place)", builder) }
        default: break
        }
    }

    private mutating func readEvent(_ event: JSONValue, _ place: String, _ builder: ArchiveBuilder) throws {
        guard let type = event.text("type"), let sender = event.text("sender") else {
            throw ConversionError("\(place): an event without type or sender")
        }
        guard let time = event["origin_server_ts"]?.milliseconds else {
            throw ConversionError("\(place): an event without origin_server_ts")
        }
        id = id ?? event.text("room_id")
        createdAt = min(createdAt ?? time, time)
        if people[sender] == nil { people[sender] = Person() }
        let content = event["content"] ?? .null
        switch type {
        case "m.room.create": creator = content.text("creator") ?? sender
        case "m.room.member": readMember(event, content)
        case "m.room.redaction":
            if let target = event.text("redacts") ?? content.text("redacts") { redacted.insert(target) }
        case "m.reaction": readReaction(event, content, sender, time, place, builder)
        case "m.room.message": readRelation(content["m.relates_to"] ?? .null, content, sender, time)
        default: break
        }
    }

    private mutating func readMember(_ event: JSONValue, _ content: JSONValue) {
        guard let user = event.text("state_key") else { return }
        if content.isTrue("is_direct") { isDirect = true }
        people[user, default: Person()].isJoined = content.text("membership") == "join"
        if let name = content.text("displayname") { people[user]?.name = name }
    }

    private mutating func readReaction(
        _ event: JSONValue, _ content: JSONValue, _ sender: String, _ time: Timestamp, _ place: String,
        _ builder: ArchiveBuilder
    ) {
        guard let relation = content["m.relates_to"], let target = relation.text("event_id"),
            let key = relation.text("key")
        else {
            return builder.report.leaveOut("deleted reactions", place)
        }
        reactions[target, default: []].append(Reaction(sender: sender, key: key, time: time))
    }

    private mutating func readRelation(
        _ relation: JSONValue, _ content: JSONValue, _ sender: String, _ time: Timestamp
    ) {
        if relation.text("rel_type") == "m.replace", let target = relation.text("event_id") {
            if let known = edits[target], known.time > time { return }
            edits[target] = Edit(sender: sender, time: time, content: content["m.new_content"] ?? content)
        } else if let parent = Self.parent(relation) {
            parents[parent] = .some(nil)
        }
    }

    /// The message to which one replies: named, or the first one of its thread.
    static func parent(_ relation: JSONValue) -> String? {
        relation["m.in_reply_to"]?.text("event_id")
            ?? (relation.text("rel_type") == "m.thread" ? relation.text("event_id") : nil)
    }
}
