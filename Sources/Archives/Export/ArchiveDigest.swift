// The last line of an archive: how many lines of each type there are, and the digest of all bytes before it.
import Basics
import Cryptography
import Domain

/// Counts and digests the lines of an archive as they are written. A value: no I/O.
package struct ArchiveDigest {
    private var digest = SHA256()
    private var counts: [(type: String, count: Int)] = []
    package private(set) var lineCount = 0
    package private(set) var byteCount = 0

    package init() {}

    /// Adds whole lines of one type, each with its line break.
    package mutating func update(_ bytes: [UInt8], type: String, count: Int) {
        digest.update(bytes)
        byteCount += bytes.count
        lineCount += count
        if let index = counts.firstIndex(where: { $0.type == type }) {
            counts[index].count += count
        } else {
            counts.append((type, count))
        }
    }

    /// The digest of all bytes so far, in hexadecimal.
    package var sha256: String { digest.finalize().hexadecimal }

    /// Returns the line `end`, with its line break.
    package func finish() -> [UInt8] {
        ArchiveText.line(
            "end",
            .object([
                .init("lines", .integer(lineCount)),
                .init("counts", .object(counts.map { .init($0.type, .integer($0.count)) })),
                .init("sha256", .string(sha256)),
            ]))
    }
}
