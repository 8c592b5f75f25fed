// Turns people, threads and messages of any system into lines of an archive by Parley's rules.
import Domain

/// The state of a conversion: known people and threads, the lines, and the report.
final class ArchiveBuilder {
    let folder: ExportFolder
    let ids: SourceIDs
    let limits = Limits()
    let roomSuffix: String?
    var lines: ArchiveLines
    var report: ConversionReport
    /// When people were made of whom the export does not say it.
    var unknownCreatedAt = Timestamp(microsSince1970: 0)

    var people: [UserID: BuiltPerson] = [:]
    /// The names are in lower case.
    var usernames: Set<String> = []
    var emails: Set<String> = []
    var threads: [ThreadID: BuiltThread] = [:]
    var roomTitles: Set<RoomKey> = []
    var attachments: Set<AttachmentID> = []
    private var repairedFiles: Set<String> = []

    init(
        folder: ExportFolder, ids: SourceIDs, roomSuffix: String?, write: @escaping ([UInt8]) throws -> Void
    ) {
        self.folder = folder
        self.ids = ids
        self.roomSuffix = roomSuffix
        lines = ArchiveLines(write)
        report = ConversionReport(system: ids.system)
    }

    func begin() throws {
        try lines.append(
            "archive",
            [.init("version", .integer(ArchiveLines.version)), .init("source", .string(ids.system.rawValue))])
    }

    func finish() throws {
        try writeFormerMembers()
        try lines.finish()
    }

    var finalReport: ConversionReport {
        var final = report
        final.written = lines.counts
        return final
    }

    /// Passes on the entries of a JSON file of the export, one at a time.
    func read(_ file: String, wants: (String) -> Bool = { _ in true }, _ body: (JSONItems.Item) throws -> Void) throws {
        let items = try JSONItems(try folder.required(file), name: file)
        try items.forEach(wants: wants, body)
        if items.wasRepaired { noteRepair(file) }
    }

    /// Passes on the lines of a file of the export that has a JSON document a line, each with its place.
    func readLines(_ file: String, _ body: (JSONValue, String) throws -> Void) throws {
        let lines = try LineReader(try folder.required(file))
        var wasRepaired = false
        while let line = try lines.next() {
            guard line.contains(where: { $0 > 0x20 }) else { continue }
            let place = "line \(lines.number)"
            let value = try JSONSource.read(Array(line), file: file, place: place, wasRepaired: &wasRepaired)
            try body(value, "\(file), \(place)")
        }
        if wasRepaired { noteRepair(file) }
    }

    /// Once a file, however often it is read.
    private func noteRepair(_ file: String) {
        guard repairedFiles.insert(file).inserted else { return }
        report.change("characters that cannot be stored, replaced by U+FFFD (files)", file)
    }

    /// Returns the message to which one replies. A reply to a message that was not written is reported.
    func replyTarget(_ parent: String?, among written: [String: MessageID?], _ place: String) -> MessageID? {
        guard let parent else { return nil }
        let id = written[parent] ?? nil
        if id == nil { reportLostReply(place) }
        return id
    }

    func reportLostReply(_ place: String) {
        report.change("replies to messages that are not carried over: no replies any more", place)
    }
}

/// What later lines need of a person.
struct BuiltPerson {
    var name: String
    var username: String?
}

/// What later lines need of a thread.
struct BuiltThread {
    let kind: ThreadKind
    var members: Set<UserID>
    /// Senders who are no members any more.
    var former: Set<UserID> = []
}
