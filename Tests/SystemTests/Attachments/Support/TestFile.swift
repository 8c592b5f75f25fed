// Files that tests upload.

import Basics
import Cryptography
import Foundation

/// Bytes and their SHA-256.
struct TestFile: Sendable {
    let bytes: Data
    /// Lower-case hex.
    let digest: String

    init(_ bytes: Data) {
        self.bytes = bytes
        digest = Self.digest(of: bytes)
    }

    /// Random bytes behind a short text, so that nothing takes them for a picture.
    static func random(_ byteCount: Int) -> TestFile {
        TestFile((Data("A file of a test.\n".utf8) + randomBytes(byteCount)).prefix(byteCount))
    }

    /// A file that contains `marker` about once in each 1,000 bytes.
    static func marked(_ marker: Data, byteCount: Int) -> TestFile {
        var bytes = Data("A file of a test.\n".utf8)
        while bytes.count < byteCount { bytes += marker + randomBytes(1_000 - marker.count) }
        return TestFile(bytes.prefix(byteCount))
    }

    static func digest(of bytes: Data) -> String {
        bytes.withUnsafeBytes(SHA256.digest).hexadecimal
    }

    static func randomBytes(_ count: Int) -> Data {
        var bytes = Data(count: count)
        guard let source = fopen("/dev/urandom", "r") else { fatalError("no /dev/urandom") }
        defer { fclose(source) }
        let readCount = bytes.withUnsafeMutableBytes { fread($0.baseAddress, 1, $0.count, source) }
        precondition(readCount == count)
        return bytes
    }

    var count: Int { bytes.count }
    /// The strong entity tag that the service must send.
    var etag: String { "\"\(digest)\"" }
}
