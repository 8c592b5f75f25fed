// An error number of the operating system.

import Glibc

/// A failed system call, by its `errno`.
package struct SystemFailure: Error, Equatable, CustomStringConvertible {
    package let code: CInt

    package init(code: CInt) { self.code = code }

    package var description: String { String(cString: strerror(code)) }
}
