// Users, teams and channels of Mattermost.
import Domain

extension MattermostExport {
    func readChannel(_ channel: JSONValue, place: String) throws {
        guard let team = channel.text("team"), let name = channel.text("name") else {
            throw ConversionError("\(place): a channel without team or name")
        }
        channels["\(team)/\(name)"] = MattermostChannel(value: channel)
    }

    /// Memberships are in the lines of users.
    func readMemberships(_ user: JSONValue) {
        guard let username = user.text("username") else { return }
        for team in user.list("teams") {
            for channel in team.list("channels") {
                let key = "\(team.text("name") ?? "")/\(channel.text("name") ?? "")"
                let isAdmin = (channel.text("roles") ?? "").contains("channel_admin")
                channels[key]?.members.append((username, isAdmin))
            }
        }
    }

    func addPerson(_ type: String, _ value: JSONValue, place: String) throws {
        switch type {
        case "user": try addUser(value, place: place)
        case "bot":
            guard let username = value.text("username") else {
                throw ConversionError("\(place): a bot without username")
            }
            try builder.add(
                SourcePerson(
                    source: username, username: username, names: [value.text("display_name"), username], isBot: true,
                    isSuspended: value["delete_at"]?.milliseconds != nil))
        case "emoji": builder.report.leaveOut("custom emoji", value.text("name") ?? "")
        case "team": builder.report.change("teams: only their channels", value.text("name") ?? "")
        case "role", "scheme": builder.report.leaveOut("roles and permission schemes", value.text("name") ?? "")
        case "version", "channel", "post", "direct_channel", "direct_post": break
        default: builder.report.leaveOut("lines of the type \(type)", place)
        }
    }

    private func addUser(_ user: JSONValue, place: String) throws {
        guard let username = user.text("username") else { throw ConversionError("\(place): a user without username") }
        let fullName = [user.text("first_name"), user.text("last_name")].compactMap { $0 }.joined(separator: " ")
        let isBot = user.isTrue("is_bot")
        try builder.add(
            SourcePerson(
                source: username, username: username, names: [user.text("nickname"), fullName, username],
                email: user.text("email"), statusText: user["custom_status"]?.text("text"), isBot: isBot,
                isSuspended: user["delete_at"]?.milliseconds != nil))
        let roles = user.text("roles") ?? ""
        if roles.contains("guest") { builder.report.change("guests: ordinary accounts", username) }
        if roles.contains("system_admin") { builder.report.leaveOut("roles on the server: system admin", username) }
        if user.text("position") != nil { builder.report.leaveOut("users' positions", username) }
        if user.text("profile_image") != nil { builder.report.leaveOut("profile pictures", username) }
    }

    /// Public channels are rooms and private ones groups. The key of the workspace's only team is not in titles.
    func addChannels() throws {
        let teams = Set(channels.keys.map { $0.prefix { $0 != "/" } })
        for (key, channel) in channels.sorted(by: { $0.key < $1.key }) {
            let value = channel.value
            let name = value.text("display_name") ?? value.text("name") ?? key
            let title = teams.count > 1 ? "\(name) (\(value.text("team") ?? ""))" : name
            channels[key]?.thread = try builder.add(
                SourceThread(
                    source: key, kind: value.text("type") == "O" ? .room : .group, title: title,
                    topic: builder.topic(
                        of: key,
                        [
                            ("channels' headers", value.text("header")),
                            ("channels' purposes", value.text("purpose")),
                        ]),
                    createdAt: value["create_at"]?.milliseconds ?? builder.unknownCreatedAt,
                    members: try channel.members.map {
                        SourceMember(user: try builder.person($0.username), role: $0.isAdmin ? .owner : .member)
                    },
                    isArchived: value["deleted_at"]?.milliseconds != nil))
        }
    }
}
