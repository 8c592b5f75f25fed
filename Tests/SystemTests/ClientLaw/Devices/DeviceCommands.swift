// Draws what people do on their devices. A command names threads and messages by numbers: the device picks one that it
// shows, so that nearly every command is possible at any time.

import TestSupport

struct DeviceCommands {
    private var random: SplitMix64
    private let lane: Int
    /// The ids of all people.
    private let people: [String]
    private var number = 0
    private static let emojis = ["👍", "❤️", "🎉"]

    /// - Parameter lane: another number for each sequence of commands in a run.
    init(seed: UInt64, lane: Int, people: [String]) {
        random = SplitMix64(seed: seed &* 1_000 &+ UInt64(lane))
        self.lane = lane
        self.people = people
    }

    /// Draws the next command. A text occurs once in a run.
    mutating func next(sends: Bool) -> [String: JSON] {
        number += 1
        var command = sends && !random.chance(10) ? send() : draw()
        // Mostly one of the first threads, which are those with the latest activity.
        command["thread"] = .init(random.below(random.chance(4) ? 30 : 5))
        if command["text"] == nil { command["text"] = .string("\(lane)-\(number)") }
        return command
    }

    private mutating func draw() -> [String: JSON] {
        switch random.below(100) {
        case 0..<40: return change()
        case 40..<60: return change()
        case 60..<74: return ["do": random.chance(4) ? "unread" : "read", "back": .init(random.below(5))]
        case 74..<80: return settings()
        case 80..<88: return membership()
        case 88..<96: return look()
        case 96: return opening()
        case 97: return ["do": "profile"]
        case 98: return ["do": random.chance(3) ? "block" : "unblock", "person": other]
        default: return ["do": random.chance(2) ? "cancel" : "retry", "message": .init(random.below(10))]
        }
    }

    private var other: JSON {
        mutating get { .string(people[random.below(people.count)]) }
    }

    private mutating func send() -> [String: JSON] {
        var command: [String: JSON] = ["do": "send"]
        if random.chance(5) { command["reply"] = .init(random.below(12)) }
        if random.chance(12) { command["mentions"] = [other] }
        if random.chance(12) { command["seconds"] = .init(1 + random.below(5)) }
        if random.chance(15) { command["file"] = .string(String(repeating: "file \(lane)-\(number) ", count: 100)) }
        return command
    }

    private mutating func change() -> [String: JSON] {
        let place = JSON(random.below(random.chance(3) ? 12 : 3))
        switch random.below(20) {
        case 0..<5: return ["do": "edit", "message": place, "text": .string("edit-\(lane)-\(number)")]
        case 5..<13:
            let emoji = Self.emojis[random.below(Self.emojis.count)]
            return ["do": random.chance(3) ? "unreact" : "react", "message": place, "text": .string(emoji)]
        default: return ["do": "delete", "message": place, "everyone": .bool(random.chance(2))]
        }
    }

    private mutating func settings() -> [String: JSON] {
        let settings: [JSON] = ["muted", "archived", "pinned", "hidden"]
        return [
            "do": "settings", "setting": settings[random.below(settings.count)], "on": .bool(random.chance(2)),
            "back": .init(random.below(8)),
        ]
    }

    /// Adds people more often than it removes them, so that threads keep most of them.
    private mutating func membership() -> [String: JSON] {
        switch random.below(12) {
        case 0: return ["do": "leave"]
        case 1: return ["do": "remove", "person": other]
        case 2, 3: return ["do": "role", "person": other, "text": random.chance(2) ? "admin" : "owner"]
        case 4: return ["do": "rename"]
        case 5, 6: return ["do": "invite", "person": other]
        case 7, 8: return ["do": "join"]
        default: return ["do": "add", "person": other]
        }
    }

    private mutating func look() -> [String: JSON] {
        ["do": ["earlier", "typing", "draft", "members", "timeline"][random.below(5)]]
    }

    private mutating func opening() -> [String: JSON] {
        switch random.below(4) {
        case 0: return ["do": "group", "members": .array(people.filter { _ in !random.chance(3) }.map { .string($0) })]
        case 1: return ["do": "direct", "person": other]
        // The same few rooms for all.
        default: return ["do": "room", "text": .string("Room \(random.below(4))")]
        }
    }
}
