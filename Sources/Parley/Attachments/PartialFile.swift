// A download that is not complete: its bytes in `NAME.part`, its tag and size in `NAME.part.json`.
import Foundation

struct PartialFile {
    /// What has arrived.
    struct Progress {
        /// Names the bytes; a later part must have the same one.
        let tag: String?
        /// The size of the whole file.
        let size: Int
        /// The bytes that are in the file.
        let count: Int
    }

    private struct Description: Codable {
        let tag: String?
        let size: Int
    }

    private let target: URL
    private let bytes: URL
    private let description: URL

    init(_ target: URL) {
        self.target = target
        bytes = target.appendingPathExtension("part")
        description = bytes.appendingPathExtension("json")
    }

    /// What an earlier run left; nil if there is nothing to continue from.
    func read() -> Progress? {
        guard let data = try? Data(contentsOf: description),
            let known = try? JSONDecoder().decode(Description.self, from: data), known.tag != nil,
            let count = try? FileManager.default.attributesOfItem(atPath: bytes.path)[.size] as? Int,
            count <= known.size
        else { return nil }
        return Progress(tag: known.tag, size: known.size, count: count)
    }

    /// Begins with an empty file.
    func begin(tag: String?, size: Int) throws {
        try writing {
            try Data().write(to: bytes)
            try JSONEncoder().encode(Description(tag: tag, size: size)).write(to: description, options: .atomic)
        }
    }

    func append(_ part: Data) throws {
        try writing {
            let file = try FileHandle(forWritingTo: bytes)
            defer { try? file.close() }
            try file.seekToEnd()
            try file.write(contentsOf: part)
        }
    }

    /// Puts the complete file in its place.
    func finish() throws {
        try writing {
            if FileManager.default.fileExists(atPath: target.path) { try FileManager.default.removeItem(at: target) }
            try FileManager.default.moveItem(at: bytes, to: target)
            try FileManager.default.removeItem(at: description)
        }
    }

    func remove() throws {
        try writing {
            try FileManager.default.removeItem(at: description)
            try FileManager.default.removeItem(at: bytes)
        }
    }

    private func writing(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            throw ParleyError.fileUnwritable(path: target.path, reason: error.localizedDescription, cause: error)
        }
    }
}
