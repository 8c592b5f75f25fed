// The last line of a signed export. With it a reader can prove that the export is whole and unchanged.
import Basics
import Cryptography

/// Reads an export while it is written, and makes its last line.
///
/// The line is `{"type":"end",…,"sha256":"…","signature":"…"}`. `sha256` is the digest of all bytes before the line.
/// The signature is of the line's own bytes before `,"signature"`, so it covers the digest and the counts.
package struct ExportManifest: Sendable {
    private var digest = SHA256()
    /// Bytes of the export so far.
    package private(set) var byteCount = 0

    package init() {}

    /// Adds bytes of the export, in their order.
    package mutating func update(_ bytes: [UInt8]) {
        digest.update(bytes)
        byteCount += bytes.count
    }

    /// The SHA-256 of all bytes so far, in hexadecimal.
    package var sha256: String { digest.finalize().hexadecimal }

    /// Returns the last line, with its line break.
    /// - Parameters:
    ///   - counts: what the export contains, by names that need no escaping in JSON.
    ///   - time: of the signature (RFC 3339).
    package func finish(counts: [(name: String, count: Int)], at time: String, by key: ExportKey) throws -> [UInt8] {
        let numbers = (counts + [("bytes", byteCount)]).map { "\"\($0.name)\":\($0.count)," }.joined()
        let signed =
            "{\"type\":\"end\",\(numbers)\"signed_at\":\"\(time)\",\"key_id\":\"\(key.id)\",\"sha256\":\"\(sha256)\""
        let signature = try key.signature(of: Array(signed.utf8)).base64
        return Array("\(signed),\"signature\":\"\(signature)\"}\n".utf8)
    }
}
