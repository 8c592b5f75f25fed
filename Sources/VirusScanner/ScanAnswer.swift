// The answers of clamd to INSTREAM.

/// Collects an answer, which ends with a zero byte.
struct ScanAnswer {
    /// The longest answer that is read. Names of signatures have up to about 100 bytes.
    private static let byteCountMax = 4_096

    private var bytes: [UInt8] = []

    /// Returns the complete answer, or nil if more bytes are needed.
    mutating func add(_ part: some Sequence<UInt8>) throws(ScanFailure) -> String? {
        for byte in part {
            if byte == 0 { return Self.printable(bytes) }
            guard bytes.count < Self.byteCountMax else { throw .refused(Self.printable(bytes.prefix(100)) + "…") }
            bytes.append(byte)
        }
        return nil
    }

    /// `stream: OK`, `stream: NAME FOUND`, or an error.
    static func verdict(_ answer: String) throws(ScanFailure) -> VirusScanner.Verdict {
        if answer == "stream: OK" { return .clean }
        if let match = answer.wholeMatch(of: /stream: (.+) FOUND/) { return .found(String(match.1)) }
        throw answer.hasPrefix("INSTREAM size limit exceeded") ? .tooLarge : .refused(answer)
    }

    /// The text with a question mark for each byte that is not printable ASCII.
    private static func printable(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.map { (0x20...0x7e).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}
