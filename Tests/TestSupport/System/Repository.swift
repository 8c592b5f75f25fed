// Files of the repository that tests read: documents, configurations, scripts.

import Foundation

package enum Repository {
    /// The directory that holds Package.swift.
    package static let directory = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// A file by its path in the repository, such as "docs/access.md".
    package static func file(_ path: String) -> URL { directory.appending(path: path) }
}
