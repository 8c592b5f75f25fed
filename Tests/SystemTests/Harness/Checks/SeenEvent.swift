// The part of a received event that a device keeps: enough to distinguish events, small enough for hundreds of thousands.

import Foundation

struct SeenEvent: Sendable, Hashable, CustomStringConvertible {
    /// The event's type, for memberships with the new status.
    let type: String
    let thread: UUID?
    /// The message, or the user of the mark or membership.
    let subject: UUID?
    /// The message's seq, or the mark.
    let number: Int

    var description: String { "\(type) \(thread?.uuidString ?? "-") \(subject?.uuidString ?? "-") \(number)" }
}

/// An answer of the long poll, read no further than seen events need.
struct SyncPage: Decodable {
    /// Only events that the log stores: the others have no delivery guarantee.
    private(set) var events: [SeenEvent]
    let cursor: String
    let more: Bool

    static let passing: Set = ["typing", "presence.updated"]

    init(parsing data: Data) throws {
        self = try JSONDecoder().decode(SyncPage.self, from: data)
        events.removeAll { Self.passing.contains($0.type) }
    }
}

extension SeenEvent: Decodable {
    private enum Key: String, CodingKey {
        case type, data, id, seq, user, status
        case threadID = "thread_id"
        case userID = "user_id"
        case read = "read_seq"
        case delivered = "delivered_seq"
    }

    init(from decoder: any Decoder) throws {
        let event = try decoder.container(keyedBy: Key.self)
        let type = try event.decode(String.self, forKey: .type)
        thread = try event.decodeIfPresent(UUID.self, forKey: .threadID)
        let data = try event.nestedContainer(keyedBy: Key.self, forKey: .data)
        switch type {
        case "receipt.updated":
            self.type = type
            subject = try data.decode(UUID.self, forKey: .userID)
            number = try data.decode(Int.self, forKey: .read) << 32 | data.decode(Int.self, forKey: .delivered)
        case "member.updated":
            self.type = type + " " + (try data.decode(String.self, forKey: .status))
            subject = try data.nestedContainer(keyedBy: Key.self, forKey: .user).decode(UUID.self, forKey: .id)
            number = 0
        default:
            self.type = type
            subject = try data.decodeIfPresent(UUID.self, forKey: .id)
            number = try data.decodeIfPresent(Int.self, forKey: .seq) ?? 0
        }
    }
}
