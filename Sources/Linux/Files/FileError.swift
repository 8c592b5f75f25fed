// A failed call to the file system, with its path.

import Glibc

/// A failed system call: the action, the path, and errno.
package struct FileError: Error, CustomStringConvertible {
    package let action: String
    package let path: String
    package let code: Int32

    package init(_ action: String, _ path: String, code: Int32 = errno) {
        self.action = action
        self.path = path
        self.code = code
    }

    package var description: String { "cannot \(action) \(path): \(String(cString: strerror(code)))" }
}
