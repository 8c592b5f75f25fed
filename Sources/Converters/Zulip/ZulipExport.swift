// Zulip's export: the tables in realm.json, the messages in messages-*.json, and the files in uploads/
// (zulip.readthedocs.io, "Export and import").
import Domain

/// Converts one organization. Holds its tables of people, channels, memberships, files and reactions in memory, and
/// reads one message at a time.
final class ZulipExport {
    let folder: ExportFolder
    let builder: ArchiveBuilder
    /// Where messages go, by the id of a row of `zerver_recipient`.
    var recipients: [Int64: ZulipRecipient] = [:]
    /// Channels by their ids.
    var channels: [Int64: JSONValue] = [:]
    /// Members by recipient.
    var subscribers: [Int64: [SourceMember]] = [:]
    /// Users by their full names, for mentions. Nil for a name that several users have.
    var usersByName: [String: UserID?] = [:]
    /// Reactions by message.
    var reactions: [Int64: [SourceReaction]] = [:]
    /// Files by their paths.
    var files: [String: SourceFile] = [:]
    /// The topic of the last message in each channel.
    var topics: [Int64: String] = [:]

    init(_ folder: ExportFolder, _ builder: ArchiveBuilder) {
        self.folder = folder
        self.builder = builder
    }

    /// Tables that the others refer to.
    private static let people: Set = [
        "zerver_realm", "zerver_userprofile", "zerver_userprofile_crossrealm", "zerver_userprofile_mirrordummy",
        "zerver_recipient",
    ]
    /// Tables whose facts are in other tables.
    private static let redundant: Set = ["zerver_huddle", "zerver_directmessagegroup", "zerver_client"]

    func convert() throws {
        let parts = try folder.names().filter { $0.hasPrefix("messages-") && $0.hasSuffix(".json") }
        _ = try folder.required("realm.json")
        try builder.read("realm.json", wants: Self.people.contains) { try readPerson($0) }
        // In a second reading, because tables may be in any order.
        try builder.read("realm.json", wants: { !Self.people.contains($0) }) { try readRow($0) }
        for part in parts {
            try builder.read(part, wants: { $0 == "zerver_reaction" }) {
                try readReaction($0.value, "\(part), \($0.place)")
            }
        }
        try readFiles()
        try addThreads()
        if parts.isEmpty { builder.report.leaveOut("messages: the export has no messages-*.json", folder.name) }
        for part in parts { try builder.read(part) { try readMessage($0, part) } }
    }

    private func readPerson(_ item: JSONItems.Item) throws {
        let place = "realm.json, \(item.place)"
        guard let key = item.key, item.index != nil else { return }
        switch key {
        case "zerver_realm":
            builder.unknownCreatedAt = item.value["date_created"]?.seconds ?? builder.unknownCreatedAt
        case "zerver_recipient": try readRecipient(item.value, place)
        default: try addUser(item.value, isBot: key == "zerver_userprofile_crossrealm", place: place)
        }
    }

    private func readRow(_ item: JSONItems.Item) throws {
        let place = "realm.json, \(item.place)"
        guard let key = item.key, item.index != nil else { return }
        switch key {
        case "zerver_stream": channels[try Self.id(item.value, "id", place)] = item.value
        case "zerver_subscription": try readSubscription(item.value, place)
        case "zerver_reaction": try readReaction(item.value, place)
        default:
            guard !Self.redundant.contains(key) else { return }
            builder.report.leaveOut("rows of the table \(key)", "")
        }
    }

    private func readMessage(_ item: JSONItems.Item, _ file: String) throws {
        let place = "\(file), \(item.place)"
        switch item.key {
        case "zerver_message": try addMessage(item.value, place)
        case "zerver_usermessage":
            let flags = item.value["flags_mask"]?.integer ?? 0
            if flags & 2 != 0 { builder.report.leaveOut("starred messages: the marks", place) }
            if flags & 1 == 0 { builder.report.leaveOut("unread marks: all messages count as read", place) }
        default: break
        }
    }

    /// The number in a column.
    /// - Throws: `ConversionError` if there is none.
    static func id(_ row: JSONValue, _ column: String, _ place: String) throws -> Int64 {
        guard let id = row[column]?.integer else { throw ConversionError("\(place): a row without \(column)") }
        return id
    }
}

/// A row of `zerver_recipient`.
struct ZulipRecipient {
    enum Kind { case person, channel, group }
    var kind: Kind
    /// The id of the user, channel or group.
    var target: Int64
    var thread: ThreadID?
}
