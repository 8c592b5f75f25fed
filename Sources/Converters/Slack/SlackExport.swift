// Slack's export: users.json, lists of conversations, and a folder of daily files for each conversation.
import Domain

/// Converts one workspace. Reads one message at a time.
final class SlackExport {
    let folder: ExportFolder
    let builder: ArchiveBuilder
    /// Names of channels by their ids, for `<#C…>`.
    var channelNames: [String: String] = [:]

    init(_ folder: ExportFolder, _ builder: ArchiveBuilder) {
        self.folder = folder
        self.builder = builder
    }

    /// The files that list conversations, and what becomes of them.
    private static let lists: [(file: String, kind: ThreadKind)] = [
        ("channels.json", .room), ("groups.json", .group), ("mpims.json", .group), ("dms.json", .direct),
    ]

    func convert() throws {
        let users =
            try folder.file("users.json") == nil && folder.file("org_users.json") != nil
            ? "org_users.json" : "users.json"
        _ = try folder.required(users)
        let found = try Self.lists.filter { try folder.file($0.file) != nil }
        guard !found.isEmpty else {
            throw ConversionError("\(folder.name) has no channels.json, so it is no export of Slack.")
        }
        for list in found { try readNames(list.file) }
        try builder.read(users) { try addUser($0.value, place: "\(users), \($0.place)") }
        var folders: Set<String> = []
        for list in found {
            try builder.read(list.file) { item in
                folders.insert(try convert(item.value, list.kind, list.file, place: item.place))
            }
        }
        try reportRest(known: folders.union(found.map(\.file)).union([users]))
    }

    /// Channels' names, and the earliest time: Slack does not say when people joined.
    private func readNames(_ file: String) throws {
        try builder.read(file) { item in
            if let id = item.value.text("id"), let name = item.value.text("name") { channelNames[id] = name }
            if let time = item.value["created"]?.seconds, time.microsSince1970 > 0 {
                let known = builder.unknownCreatedAt
                builder.unknownCreatedAt = known.microsSince1970 == 0 ? time : min(known, time)
            }
        }
    }

    private func reportRest(known: Set<String>) throws {
        for name in try folder.names() where !known.contains(name) {
            let isFolder = try folder.isDirectory(name)
            if name.hasPrefix("__") { continue }
            builder.report.leaveOut(
                isFolder
                    ? "folders of conversations that no list has"
                    : "files of the export that are not read", name)
        }
    }

    private func addUser(_ user: JSONValue, place: String) throws {
        guard let id = user.text("id") else { throw ConversionError(file: place, "a user without id") }
        let profile = user["profile"] ?? .null
        try builder.add(
            SourcePerson(
                source: id, username: user.text("name"),
                names: [
                    profile.text("display_name"), profile.text("real_name"), user.text("real_name"), user.text("name"),
                ],
                email: profile.text("email"), statusText: profile.text("status_text"),
                isBot: user.isTrue("is_bot") || id == "USLACKBOT", isSuspended: user.isTrue("deleted")))
        let name = user.text("name") ?? id
        if user.isTrue("is_restricted") || user.isTrue("is_ultra_restricted") {
            builder.report.change("guests: ordinary accounts", name)
        }
        if user.isTrue("is_admin") || user.isTrue("is_owner") {
            builder.report.leaveOut("roles in the workspace: owner, admin", name)
        }
        if profile.text("image_original") != nil {
            builder.report.leaveOut("profile pictures: addresses at Slack", name)
        }
    }
}
