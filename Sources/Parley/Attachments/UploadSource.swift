// Where the bytes of an upload come from. One part at a time is in memory.
import Foundation

/// The bytes of an upload.
@nonexhaustive
public enum UploadSource: Sendable, Hashable {
    /// A file that does not change until the upload is complete.
    case file(URL)
    /// Bytes in memory.
    case data(Data)

    /// The number of bytes. Throws `ParleyError.fileUnreadable`.
    var size: Int {
        get throws {
            switch self {
            case .data(let data): data.count
            case .file(let url): try Self.reading(url) { Int(try $0.seekToEnd()) }
            }
        }
    }

    /// Reads `count` bytes from `offset`. Throws `ParleyError.fileUnreadable` also if the file has become shorter.
    func read(_ count: Int, at offset: Int) throws -> Data {
        switch self {
        case .data(let data):
            let start = data.startIndex + offset
            return data.subdata(in: start..<start + count)
        case .file(let url):
            let bytes = try Self.reading(url) { file in
                try file.seek(toOffset: UInt64(offset))
                return try file.read(upToCount: count) ?? Data()
            }
            guard bytes.count == count else {
                throw ParleyError.fileUnreadable(path: url.path, reason: "it has changed during the upload")
            }
            return bytes
        }
    }

    private static func reading<Value>(_ url: URL, _ body: (FileHandle) throws -> Value) throws -> Value {
        do {
            let file = try FileHandle(forReadingFrom: url)
            defer { try? file.close() }
            return try body(file)
        } catch {
            throw ParleyError.fileUnreadable(path: url.path, reason: error.localizedDescription, cause: error)
        }
    }
}
