// Events as integrations see them: their ids and types.

/// The name of one event of the log, the same for ever: `evt_<lane>_<epoch>_<pos>`. Consumers deduplicate by it.
package struct EventID: Hashable, Sendable, CustomStringConvertible {
    /// The database that holds the event's thread. There is one lane, 0.
    package var lane: UInt8
    /// The unbroken stretch of the log in which the event was written.
    package var epoch: Int32
    package var position: Position

    package init(lane: UInt8 = 0, epoch: Int32, position: Position) {
        self.lane = lane
        self.epoch = epoch
        self.position = position
    }

    private static let prefix = "evt_"

    /// Returns nil for a text that `description` never returns.
    package init?(parsing text: some StringProtocol) {
        guard text.hasPrefix(Self.prefix) else { return nil }
        let parts = text.dropFirst(Self.prefix.count).split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 3, let lane = UInt8(parts[0]), let epoch = Int32(parts[1]), epoch > 0,
            let position = Int64(parts[2]), position > 0
        else { return nil }
        self.init(lane: lane, epoch: epoch, position: Position(position))
        // A sign or a leading zero would be a second name of the event.
        guard text == description else { return nil }
    }

    package var description: String { "\(Self.prefix)\(lane)_\(epoch)_\(position.value)" }
}

/// The types of the events that integrations see. The log has others: `settings.updated` is private to its user, and
/// `message.withdrawn` is for nodes.
package enum EventType: String, CaseIterable, Sendable {
    case messageCreated = "message.created"
    case messageUpdated = "message.updated"
    case messageDeleted = "message.deleted"
    case reactionUpdated = "reaction.updated"
    case receiptUpdated = "receipt.updated"
    case threadCreated = "thread.created"
    case threadUpdated = "thread.updated"
    case threadDeleted = "thread.deleted"
    case memberUpdated = "member.updated"
    case userUpdated = "user.updated"
    case sessionRevoked = "session.revoked"
}
