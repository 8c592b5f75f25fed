// Converts the export of another chat system into an archive that Parley imports (docs/import-export.md).

/// A system whose exports can be converted.
package enum ChatSystem: String, CaseIterable, Sendable { case slack, mattermost, zulip, rocketchat, matrix }

package enum Conversion {
    /// Reads an export and writes an archive.
    ///
    /// Ids are derived from the namespace, the system and the ids of the export. So the same export gives the same
    /// archive, and a newer export of the same workspace gives the same ids. Holds users, threads and memberships in
    /// memory, and one message at a time.
    /// - Parameters:
    ///   - path: a directory, a `.zip`, `.tar` or `.tar.gz`, or a single file of the export.
    ///   - namespace: keeps workspaces apart whose ids may be equal. The same workspace needs the same one each time.
    ///   - roomSuffix: text after each room's title, for titles that rooms here have already.
    ///   - temporaryDirectory: where archives are unpacked; nil for the system's.
    ///   - write: receives one line, with its line break, at a time.
    /// - Throws: `ConversionError`, `FileError`, and what `write` throws. The archive has no line `end` then.
    package static func run(
        from system: ChatSystem, file path: String, namespace: String = "", roomSuffix: String? = nil,
        temporaryDirectory: String? = nil, write: @escaping ([UInt8]) throws -> Void
    ) throws -> ConversionReport {
        let folder = try ExportFolder(path, temporaryDirectory: temporaryDirectory)
        let ids = SourceIDs(system: system, namespace: namespace)
        let builder = ArchiveBuilder(folder: folder, ids: ids, roomSuffix: roomSuffix, write: write)
        try builder.begin()
        switch system {
        case .slack: try SlackExport(folder, builder).convert()
        case .mattermost: try MattermostExport(folder, builder).convert()
        case .zulip: try ZulipExport(folder, builder).convert()
        case .rocketchat: try RocketChatExport(folder, builder).convert()
        case .matrix: try MatrixExport(folder, builder).convert()
        }
        try builder.finish()
        return builder.finalReport
    }
}

/// Why an export cannot be converted: the file, the place in it, and the reason.
package struct ConversionError: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// - Parameter place: a line, or a path in a document.
    init(file: String, place: String = "", _ reason: String) {
        description = place.isEmpty ? "\(file): \(reason)" : "\(file), \(place): \(reason)"
    }
}
