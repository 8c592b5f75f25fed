// Users and rooms of Rocket.Chat.
import Domain

extension RocketChatExport {
    func addUser(_ user: JSONValue, place: String) throws {
        guard let id = user.mongoID("_id") else { throw ConversionError("\(place): a user without _id") }
        let username = user.text("username")
        let type = user.text("type") ?? "user"
        try builder.add(
            SourcePerson(
                source: id, username: username, names: [user.text("name"), username],
                email: user.list("emails").first?.text("address"), statusText: user.text("statusText"),
                isBot: type == "bot" || type == "app", isSuspended: user["active"]?.bool == false,
                createdAt: user.mongoDate("createdAt")))
        if let username { idsByUsername[username] = id }
        let name = username ?? id
        let roles = user.list("roles").compactMap(\.string).filter { $0 != "user" && $0 != "bot" && $0 != "app" }
        if roles.contains("guest") { builder.report.change("guests: ordinary accounts", name) }
        if roles.contains(where: { $0 != "guest" }) {
            builder.report.leaveOut("roles in the workspace", "\(name): \(roles.joined(separator: ", "))")
        }
        builder.report.leaveOut("second e-mail addresses", name, count: user.list("emails").count - 1)
        if user.text("avatarETag") != nil { builder.report.leaveOut("profile pictures", name) }
        if user.text("bio") != nil { builder.report.leaveOut("users' descriptions", name) }
    }

    func addRoom(_ room: JSONValue, place: String) throws {
        guard let id = room.mongoID("_id"), let type = room.text("t") else {
            throw ConversionError("\(place): a room without _id or t")
        }
        let createdAt = room.mongoDate("ts") ?? builder.unknownCreatedAt
        switch type {
        case "d": rooms[id] = try addDirect(room, id, createdAt)
        case "c", "p": rooms[id] = try addChannel(room, id, type, createdAt)
        default:
            leftOutRooms[id] = "messages in rooms of the type \(type)"
            builder.report.leaveOut("rooms of the type \(type) (l: Omnichannel)", room.text("fname") ?? id)
        }
        reportSettings(room, id)
    }

    private func addDirect(_ room: JSONValue, _ id: String, _ createdAt: Timestamp) throws -> ThreadID {
        let uids = room.list("uids").compactMap(\.string)
        let usernames = room.list("usernames").compactMap(\.string)
        let sources = uids.isEmpty ? usernames.map { idsByUsername[$0] ?? $0 } : uids
        let users = sources.isEmpty ? (members[id] ?? []).map(\.user) : try sources.map { try builder.person($0) }
        return try builder.addConversation(users, source: id, createdAt: createdAt)
    }

    private func addChannel(
        _ room: JSONValue, _ id: String, _ type: String, _ createdAt: Timestamp
    ) throws -> ThreadID {
        let name = room.text("fname") ?? room.text("name") ?? id
        if room.text("prid") != nil { builder.report.change("discussions: threads of their own", name) }
        return try builder.add(
            SourceThread(
                source: id, kind: type == "c" ? .room : .group, title: name,
                topic: builder.topic(
                    of: name,
                    [
                        ("rooms' topics", room.text("topic")), ("rooms' descriptions", room.text("description")),
                    ]), createdAt: createdAt,
                members: members[id] ?? [], isArchived: room.isTrue("archived")))
    }

    private func reportSettings(_ room: JSONValue, _ id: String) {
        let name = room.text("fname") ?? room.text("name") ?? id
        if let text = room.text("announcement") { builder.report.leaveOut("announcements", "\(name): \(text)") }
        if room.isTrue("ro") { builder.report.change("read-only rooms: all members may write", name) }
        if room.isTrue("teamMain") { builder.report.change("teams: only their rooms", name) }
    }
}
