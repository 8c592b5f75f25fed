// The files of an export: in a directory, unpacked from an archive, or a single file.
import FoundationEssentials
import Glibc
import Linux

/// Finds and opens files of an export. Never follows a link out of its directory. Removes what it unpacked.
final class ExportFolder {
    /// Absolute, without links.
    let path: String
    /// What the user named, for messages.
    let name: String
    /// The one file, if the user named a file that is no archive.
    let single: String?
    private let temporary: String?

    init(_ path: String, temporaryDirectory: String?) throws {
        name = path
        let resolved = try Files.resolve(path)
        guard let status = try Files.status(resolved) else { throw FileError("open", path) }
        if Files.isDirectory(status) {
            (self.path, single, temporary) = (try Self.descend(resolved), nil, nil)
        } else if let archive = try PackedExport(resolved) {
            let root = temporaryDirectory ?? FileManager.default.temporaryDirectory.path
            let directory = try archive.unpack(into: root)
            temporary = directory
            single = nil
            do {
                self.path = try Self.descend(try Files.resolve(directory))
            } catch {
                try? Files.remove(directory)
                throw error
            }
        } else {
            let slash = resolved.lastIndex(of: "/") ?? resolved.startIndex
            self.path = String(resolved[..<slash])
            single = String(resolved[resolved.index(after: slash)...])
            temporary = nil
        }
    }

    deinit { if let temporary { try? Files.remove(temporary) } }

    /// Enters directories that hold one directory and nothing else: archives often have such a folder on top.
    private static func descend(_ path: String) throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { !$0.hasPrefix(".") }
        guard names.count == 1, let only = names.first, let status = try Files.status(path + "/" + only),
            Files.isDirectory(status)
        else { return path }
        return try descend(path + "/" + only)
    }

    /// The names in a directory of the export, sorted by bytes; empty if there is none.
    func names(in directory: String = "") throws -> [String] {
        guard let place = try place(directory) else { return [] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
        return names.filter { !$0.hasPrefix(".") }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    func isDirectory(_ relative: String) throws -> Bool {
        guard let place = try place(relative), let status = try Files.status(place) else { return false }
        return Files.isDirectory(status)
    }

    /// The absolute path of a regular file of the export; nil if there is none.
    func file(_ relative: String) throws -> String? {
        guard let place = try place(relative), let status = try Files.status(place),
            status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        return place
    }

    /// As `file`, and throws if there is none.
    func required(_ relative: String) throws -> String {
        guard let file = try file(relative) else {
            throw ConversionError(
                "\(name) has no file \(relative). Name the whole export: its archive or its unpacked directory.")
        }
        return file
    }

    /// The path with links resolved. Nil if it does not exist.
    /// - Throws: `ConversionError` if it leads out of the export.
    private func place(_ relative: String) throws -> String? {
        let parts = relative.split(separator: "/")
        guard !relative.hasPrefix("/"), !parts.contains("..") else { throw Self.outside(relative) }
        guard let found = realpath(path + "/" + parts.joined(separator: "/"), nil) else { return nil }
        defer { free(found) }
        let resolved = String(cString: found)
        guard resolved == path || resolved.hasPrefix(path == "/" ? path : path + "/") else {
            throw Self.outside(relative)
        }
        return resolved
    }

    static func outside(_ path: String) -> ConversionError {
        ConversionError("\(path) leads out of the export. Remove it from the export and try again.")
    }
}
