// Rocket.Chat's database, as mongoexport or mongodump writes it: users, rooms, subscriptions and messages.
import Domain

/// Converts one workspace. Holds people, rooms and memberships in memory, and reads one message at a time.
final class RocketChatExport {
    let folder: ExportFolder
    let builder: ArchiveBuilder
    /// Ids of users by username: reactions and direct rooms name people so.
    var idsByUsername: [String: String] = [:]
    /// Rooms by their ids.
    var rooms: [String: ThreadID] = [:]
    /// Members by room.
    var members: [String: [SourceMember]] = [:]
    /// Rooms that are left out on purpose: their messages are counted under this reason.
    var leftOutRooms: [String: String] = [:]
    /// Messages that others reply to. A `MessageID` is there once the message is written.
    var parents: [String: MessageID?] = [:]

    init(_ folder: ExportFolder, _ builder: ArchiveBuilder) {
        self.folder = folder
        self.builder = builder
    }

    func convert() throws {
        let users = try required("users")
        let roomList = try required("rocketchat_room")
        let messages = try required("rocketchat_message")
        try roomList.forEach(builder) { room, _ in self.noteTime(room) }
        try users.forEach(builder, addUser)
        if let subscriptions = try MongoCollection("rocketchat_subscription", in: folder) {
            try subscriptions.forEach(builder, readSubscription)
        } else {
            builder.report.change("memberships: only those who wrote, as former members", "no rocketchat_subscription")
        }
        try roomList.forEach(builder, addRoom)
        try messages.forEach(builder) { message, _ in
            if let parent = message.text("tmid") { self.parents[parent] = .some(nil) }
        }
        try messages.forEach(builder, addMessage)
        try reportRest(known: [users.file, roomList.file, messages.file])
    }

    private func required(_ name: String) throws -> MongoCollection {
        guard let collection = try MongoCollection(name, in: folder) else {
            throw ConversionError(
                "\(folder.name) has neither \(name).json nor \(name).bson. Name the directory of the export.")
        }
        return collection
    }

    /// The earliest time of a room, for people of whom no time is known.
    private func noteTime(_ room: JSONValue) {
        guard let time = room.mongoDate("ts") else { return }
        let known = builder.unknownCreatedAt
        builder.unknownCreatedAt = known.microsSince1970 == 0 ? time : min(known, time)
    }

    private func reportRest(known: Set<String>) throws {
        for name in try folder.names() where !known.contains(name) && !name.hasPrefix("rocketchat_subscription.") {
            guard !name.hasSuffix(".metadata.json"), name != "prelude.json" else { continue }
            builder.report.leaveOut("files of the export that are not read", name)
        }
    }

    func readSubscription(_ row: JSONValue, place: String) throws {
        guard let room = row.text("rid"), let user = row["u"], let id = user.mongoID("_id") else {
            throw ConversionError("\(place): a subscription without rid or u._id")
        }
        let isOwner = row.list("roles").contains { $0.string == "owner" }
        let person = try builder.person(id, name: user.text("name") ?? user.text("username"))
        members[room, default: []].append(SourceMember(user: person, role: isOwner ? .owner : .member))
        if row.isTrue("f") { builder.report.leaveOut("favourite rooms: the marks", place) }
        if row.isTrue("disableNotifications") { builder.report.leaveOut("muted rooms: the marks", place) }
    }
}
