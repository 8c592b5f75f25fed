// Reads files in pieces: bytes, and lines.
import Glibc
import Linux

/// A file from its beginning to its end, 256 KiB at a time.
final class ByteReader {
    static let chunkByteCount = 256 * 1024

    private let path: String
    private let file: Int32

    init(_ path: String) throws {
        self.path = path
        file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { throw FileError("read", path) }
    }

    deinit { close(file) }

    /// The next bytes; nil at the end.
    func next(_ countMax: Int = ByteReader.chunkByteCount) throws -> [UInt8]? {
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: countMax) { buffer, written in
            while written < countMax {
                count = Glibc.read(file, buffer.baseAddress.map { $0 + written }, countMax - written)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { break }
                written += count
            }
        }
        guard count >= 0 else { throw FileError("read", path) }
        return bytes.isEmpty ? nil : bytes
    }
}

/// A file line by line, without line breaks.
final class LineReader {
    static let lineByteCountMax = 64 * 1024 * 1024

    private let path: String
    private let reader: ByteReader
    private var buffer: [UInt8] = []
    private var at = 0
    private var isAtEnd = false
    /// The number of the line that `next` returned, from 1.
    private(set) var number = 0

    init(_ path: String) throws {
        self.path = path
        reader = try ByteReader(path)
    }

    /// The next line; nil at the end.
    func next() throws -> ArraySlice<UInt8>? {
        var scanned = at
        while true {
            if let end = buffer[scanned...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { at = end + 1 }
                number += 1
                return buffer[at..<end]
            }
            guard !isAtEnd else { break }
            buffer.removeSubrange(..<at)
            at = 0
            scanned = buffer.count
            guard scanned <= Self.lineByteCountMax else {
                throw ConversionError(file: path, place: "line \(number + 1)", "the line is longer than 64 MiB")
            }
            if let chunk = try reader.next() { buffer += chunk } else { isAtEnd = true }
        }
        guard at < buffer.count else { return nil }
        defer { at = buffer.count }
        number += 1
        return buffer[at...]
    }
}
