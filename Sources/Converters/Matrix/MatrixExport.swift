// Matrix: rooms as Element exports them ("Export chat", JSON): one file a room with all its events.
import Domain

/// Converts the rooms of a zip, a directory or a single file. Reads each file twice: first what changes messages
/// (edits, redactions, reactions) and memberships, then the messages, one at a time.
final class MatrixExport {
    let folder: ExportFolder
    let builder: ArchiveBuilder

    init(_ folder: ExportFolder, _ builder: ArchiveBuilder) {
        self.folder = folder
        self.builder = builder
    }

    func convert() throws {
        let files = try jsonFiles()
        guard !files.isEmpty else {
            throw ConversionError(
                "\(folder.name) has no .json file. Export the room as JSON, and name its zip or file.")
        }
        for file in files { try convertRoom(file) }
    }

    /// Finds the files in the export itself, or in one folder a room.
    private func jsonFiles() throws -> [String] {
        if let single = folder.single { return [single] }
        let names = try folder.names()
        let inFolders = try names.filter { try folder.isDirectory($0) }.flatMap { name in
            try folder.names(in: name).map { "\(name)/\($0)" }
        }
        return (names + inFolders).filter { $0.hasSuffix(".json") }
    }

    private func convertRoom(_ file: String) throws {
        var room = MatrixRoom(file: file)
        try builder.read(file) { try room.read($0, builder) }
        guard room.hasMessages else {
            throw ConversionError(file: file, "no list of messages, so it is no export of a room as JSON")
        }
        try addRoom(&room)
        try builder.read(file, wants: { $0 == "messages" }) { item in
            guard item.index != nil else { return }
            try addEvent(item.value, to: &room, place: "\(file), \(item.place)")
        }
        for (target, count) in room.reactions.mapValues(\.count).sorted(by: { $0.key < $1.key }) {
            builder.report.leaveOut("reactions to messages that are not carried over", target, count: count)
        }
        for target in room.edits.keys.sorted() {
            builder.report.leaveOut("edits of messages that are not carried over", target)
        }
    }

    private func addRoom(_ room: inout MatrixRoom) throws {
        let createdAt = room.createdAt ?? builder.unknownCreatedAt
        if builder.unknownCreatedAt.microsSince1970 == 0 { builder.unknownCreatedAt = createdAt }
        for (user, person) in room.people.sorted(by: { $0.key < $1.key }) {
            try builder.add(
                SourcePerson(source: user, username: nil, names: [person.name, user], createdAt: createdAt))
        }
        let joined = room.people.filter(\.value.isJoined).keys.sorted()
        room.source = room.id ?? "\(room.name ?? "")/\(room.creator ?? "")"
        if room.isDirect, joined.count == 2, room.people.count == 2 {
            room.thread = try builder.addConversation(
                joined.map(builder.ids.user), source: room.source, createdAt: createdAt)
        } else {
            room.thread = try builder.add(
                SourceThread(
                    source: room.source, kind: .group, title: room.name, topic: room.topic, createdAt: createdAt,
                    members: joined.map {
                        SourceMember(user: builder.ids.user($0), role: $0 == room.creator ? .owner : .member)
                    }))
        }
    }
}
