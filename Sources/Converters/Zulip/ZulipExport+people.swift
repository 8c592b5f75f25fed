// Users, channels and memberships of Zulip.
import Domain

extension ZulipExport {
    func addUser(_ user: JSONValue, isBot: Bool, place: String) throws {
        let id = try Self.id(user, "id", place)
        let email = user.text("delivery_email") ?? user.text("email")
        let name = user.text("full_name") ?? email
        let isBot = isBot || user.isTrue("is_bot")
        let added = try builder.add(
            SourcePerson(
                source: String(id), names: [name], email: isBot ? nil : email, isBot: isBot,
                isSuspended: user["is_active"]?.bool == false || user.isTrue("is_mirror_dummy"),
                createdAt: user["date_joined"]?.seconds))
        if let name { usersByName[name] = usersByName[name] == nil ? added : .some(nil) }
        let role = user["role"]?.integer ?? 400
        if role == 600 { builder.report.change("guests: ordinary accounts", name ?? "") }
        if role < 400 { builder.report.leaveOut("roles in the organization: owner, admin, moderator", name ?? "") }
        if user.text("avatar_source") == "U" { builder.report.leaveOut("profile pictures", name ?? "") }
    }

    func readRecipient(_ row: JSONValue, _ place: String) throws {
        let kinds: [Int64: ZulipRecipient.Kind] = [1: .person, 2: .channel, 3: .group]
        guard let kind = kinds[try Self.id(row, "type", place)] else {
            throw ConversionError("\(place): a recipient of a type other than 1, 2 and 3")
        }
        recipients[try Self.id(row, "id", place)] = ZulipRecipient(
            kind: kind, target: try Self.id(row, "type_id", place))
    }

    func readSubscription(_ row: JSONValue, _ place: String) throws {
        let recipient = try Self.id(row, "recipient", place)
        let user = try builder.person(String(try Self.id(row, "user_profile", place)))
        // Former members of channels. A group of direct messages keeps its people.
        guard row["active"]?.bool != false || recipients[recipient]?.kind == .group else { return }
        // 20 is Zulip's administrator of a channel.
        let role: MemberRole = row["role"]?.integer == 20 ? .owner : .member
        subscribers[recipient, default: []].append(SourceMember(user: user, role: role))
        if row.isTrue("is_muted") { builder.report.leaveOut("muted channels: the marks", place) }
    }

    /// Channels and groups. Threads of two people are made with their first message.
    func addThreads() throws {
        for (id, recipient) in recipients.sorted(by: { $0.key < $1.key }) {
            let members = subscribers[id] ?? []
            switch recipient.kind {
            case .person: break
            case .channel: recipients[id]?.thread = try addChannel(recipient.target, members)
            case .group:
                guard !members.isEmpty else { continue }
                recipients[id]?.thread = try builder.addConversation(
                    members.map(\.user), source: "group:\(recipient.target)", createdAt: builder.unknownCreatedAt)
            }
        }
    }

    private func addChannel(_ id: Int64, _ members: [SourceMember]) throws -> ThreadID? {
        guard let channel = channels[id], let name = channel.text("name") else {
            builder.report.leaveOut("channels that the export names and does not describe", "channel \(id)")
            return nil
        }
        let isPrivate = channel.isTrue("invite_only")
        if isPrivate, channel["history_public_to_subscribers"]?.bool == false {
            builder.report.change("channels with protected history: members see all messages", name)
        }
        let owner = channel["creator"]?.integer.map { builder.ids.user(String($0)) }
        return try builder.add(
            SourceThread(
                source: "channel:\(id)", kind: isPrivate ? .group : .room, title: name,
                topic: channel.text("description"),
                createdAt: channel["date_created"]?.seconds ?? builder.unknownCreatedAt,
                members: members.map { SourceMember(user: $0.user, role: $0.user == owner ? .owner : $0.role) },
                isArchived: channel.isTrue("deactivated")))
    }
}
