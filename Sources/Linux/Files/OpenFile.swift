// One open file, from its start to its end.
import Glibc

/// An open file or a pipe. The calls block and throw `FileError`. The last reference closes what this type opened.
package final class OpenFile {
    private let descriptor: Int32
    private let path: String
    private let isOwned: Bool

    private init(_ descriptor: Int32, _ path: String, isOwned: Bool) {
        self.descriptor = descriptor
        self.path = path
        self.isOwned = isOwned
    }

    package static var standardInput: OpenFile { OpenFile(STDIN_FILENO, "standard input", isOwned: false) }

    /// Opens an existing file.
    package convenience init(reading path: String) throws(FileError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError("read", path) }
        self.init(descriptor, path, isOwned: true)
    }

    /// Creates a file that does not exist yet.
    package convenience init(creating path: String, mode: mode_t) throws(FileError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw FileError("write", path) }
        self.init(descriptor, path, isOwned: true)
    }

    deinit { if isOwned { close(descriptor) } }

    /// Returns the next bytes, at most `byteCountMax`; none at the end.
    package func read(upTo byteCountMax: Int) throws(FileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: byteCountMax)
        while true {
            let count = Glibc.read(descriptor, &bytes, byteCountMax)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileError("read", path) }
            bytes.removeLast(byteCountMax - count)
            return bytes
        }
    }

    package func write(_ bytes: [UInt8]) throws(FileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileError("write", path) }
            rest = rest.dropFirst(count)
        }
    }

    /// Continues at this byte of the file.
    package func seek(to offset: Int) throws(FileError) {
        guard lseek(descriptor, offset, SEEK_SET) >= 0 else { throw FileError("read", path) }
    }
}
