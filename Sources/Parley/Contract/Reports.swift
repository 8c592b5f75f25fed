// Reports to the moderators.
import Foundation

/// A message or a person that the user has reported.
public struct Report: Sendable, Hashable, Identifiable, Codable {
    /// The id of the report.
    public var id: String
    /// How far the moderators are.
    public var state: ReportState
    /// It is nil once the account of the reporter is erased.
    public var reason: String?
    /// The reported person: of a message its sender.
    public var userID: UserID?
    /// It is nil in a report about a person.
    public var threadID: ThreadID?
    /// The reported message. Nil if a person was reported.
    public var messageID: MessageID?
    /// The time when the user reported it.
    public var createdAt: Date

    enum CodingKeys: String, CodingKey {
        case id, state, reason
        case userID = "user_id"
        case threadID = "thread_id"
        case messageID = "message_id"
        case createdAt = "created_at"
    }
}
