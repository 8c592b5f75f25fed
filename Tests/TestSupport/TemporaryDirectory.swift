// A directory for one test. Clusters make their own: see TestCluster.

import Foundation

/// A new empty directory under /tmp, removed with this value. Only its owner may enter it.
package final class TemporaryDirectory: Sendable {
    /// Absolute, symbolic links resolved, at most 40 bytes.
    package let path: String

    package init() throws {
        var template = Array("/tmp/parley-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
