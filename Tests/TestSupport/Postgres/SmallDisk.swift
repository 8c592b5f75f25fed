// A small file system to fill up: a tmpfs mounted in a test's directory. Mounting requires root, and a container that
// allows mounts.

import Foundation
import Linux

/// A mounted tmpfs. The owner of the directory unmounts it; see `Guardian`.
package struct SmallDisk: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package let directory: String

    /// Creates the directory and mounts the disk there, for `account` alone if given.
    /// - Throws: `Failure` if mounting is not permitted.
    package static func mount(at directory: String, byteCount: Int, account: SystemAccount?) throws -> SmallDisk {
        guard mkdir(directory, 0o700) == 0 else { throw CocoaError(.fileWriteUnknown) }
        var options = "size=\(byteCount),mode=0700"
        if let account { options += ",uid=\(account.userID),gid=\(account.groupID)" }
        guard Glibc.mount("tmpfs", directory, "tmpfs", 0, options) == 0 else {
            throw Failure(description: "no small disk can be mounted: \(String(cString: strerror(errno)))")
        }
        return SmallDisk(directory: directory)
    }

    /// Whether this process may mount. Tries a mount, because root in a container may not.
    package static let isPermitted: Bool = {
        guard geteuid() == 0, let parent = try? TemporaryDirectory(),
            let disk = try? mount(at: parent.path + "/disk", byteCount: 1 << 20, account: nil)
        else { return false }
        return umount2(disk.directory, Int32(MNT_DETACH)) == 0
    }()

    private var ballast: String { directory + "/ballast" }

    /// Fills all free space.
    package func fill() throws {
        let file = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
        defer { close(file) }
        var size = 0
        for step in [1 << 24, 1 << 20, 1 << 16, 1 << 12] {
            while posix_fallocate(file, off_t(size), off_t(step)) == 0 { size += step }
        }
    }

    /// Frees the space again.
    package func free() { unlink(ballast) }

    /// Takes the disk away, for a test that mounted it itself.
    package func unmount() { umount2(directory, Int32(MNT_DETACH)) }
}
