// A directory for one test.

import Foundation

/// A new empty directory, removed with this value. Other users may pass through it but not list it. For root, PostgreSQL
/// runs as another user, and must reach its directory.
package final class TemporaryDirectory: Sendable {
    /// Where tests store files: `TMPDIR`, which Tests/run.sh makes and removes, or /tmp. It must be short, because tests put
    /// sockets there, and a socket's path has at most 107 bytes.
    package static let parent = FileManager.default.temporaryDirectory.path

    /// Absolute, about 40 bytes.
    package let path: String

    package init() throws {
        path = try Self.make()
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Creates a directory that stays until it is removed by its path.
    package static func make() throws -> String {
        var template = Array("\(parent)/parley-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard chmod(path, 0o711) == 0 else { throw CocoaError(.fileWriteUnknown) }
        return path
    }
}
