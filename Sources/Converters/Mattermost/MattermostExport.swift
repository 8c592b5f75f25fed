// Mattermost's bulk export: one JSON object a line, and the files' bytes in data/ (docs.mattermost.com, "Bulk data
// format").
import Domain

/// Converts a server's export. Reads the file twice: people and channels, then posts, a line at a time.
final class MattermostExport {
    let folder: ExportFolder
    let builder: ArchiveBuilder
    /// The channels by team and name.
    var channels: [String: MattermostChannel] = [:]
    /// The first 64 bits of the ids of posts: two posts of one person in one millisecond need different ones.
    private var seen: Set<UUIDPrefix> = []
    private var createdAt: Timestamp?

    init(_ folder: ExportFolder, _ builder: ArchiveBuilder) {
        self.folder = folder
        self.builder = builder
    }

    func convert() throws {
        let file = try jsonLines()
        try forEachLine(file) { try self.readFacts($0, $1, place: $2) }
        builder.unknownCreatedAt = createdAt ?? builder.unknownCreatedAt
        try forEachLine(file) { try self.addPerson($0, $1, place: $2) }
        try addChannels()
        try forEachLine(file) { try self.addPosts($0, $1, place: $2) }
    }

    private func jsonLines() throws -> String {
        if let single = folder.single { return single }
        let files = try folder.names().filter { $0.hasSuffix(".jsonl") }
        guard files.count == 1, let file = files.first else {
            throw ConversionError(
                "\(folder.name) has \(files.isEmpty ? "no file" : "several files") .jsonl. Name the file of the export."
            )
        }
        return file
    }

    private func forEachLine(_ file: String, _ body: (String, JSONValue, String) throws -> Void) throws {
        try builder.readLines(file) { value, place in
            guard let type = value.text("type") else {
                throw ConversionError("\(place): the line has no type, so it is no line of a bulk export")
            }
            try body(type, type == "version" ? value : value[type] ?? .null, place)
        }
    }

    /// Finds the channels, their members, and the earliest time.
    private func readFacts(_ type: String, _ value: JSONValue, place: String) throws {
        switch type {
        case "version":
            guard value["version"]?.integer == 1 else {
                throw ConversionError("\(place): the version of the export is not 1")
            }
        case "channel": try readChannel(value, place: place)
        case "user": readMemberships(value)
        case "post", "direct_post":
            if let time = value["create_at"]?.milliseconds { createdAt = min(createdAt ?? time, time) }
        default: break
        }
    }

    /// The id in the export of a post, which has none of its own.
    func source(_ channel: String, _ user: String, _ createdAt: Timestamp, reply: String = "") -> String {
        let base = "\(channel)/\(user)/\(createdAt.microsSince1970 / 1_000)\(reply)"
        for number in 1... {
            let source = number == 1 ? base : "\(base)/\(number)"
            if seen.insert(UUIDPrefix(builder.ids.message(source))).inserted { return source }
        }
        return base
    }
}

/// The first half of an id: enough to tell ids apart, and half the memory.
private struct UUIDPrefix: Hashable {
    let bits: UInt64
    init(_ id: MessageID) { bits = withUnsafeBytes(of: id.uuid.uuid) { $0.loadUnaligned(as: UInt64.self) } }
}

/// A channel, before it is written.
struct MattermostChannel {
    var value: JSONValue
    var members: [(username: String, isAdmin: Bool)] = []
    var thread: ThreadID?
}
