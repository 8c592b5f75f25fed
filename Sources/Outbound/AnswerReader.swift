// Reads an HTTP answer as it arrives, within bounds.

/// Collects header lines and parts of the body until one of the bounds is exceeded.
struct AnswerReader {
    static let headerByteCountMax = 16 << 10

    private(set) var headers: [String: String] = [:]
    private(set) var body: [UInt8] = []
    private let bodyByteCountMax: Int
    /// Bytes of all header lines, including interim answers and trailers.
    private var headerByteCount = 0
    private(set) var isTooLarge = false
    /// Whether the last answer's headers are complete.
    private(set) var isHeaded = false

    init(bodyByteCountMax: Int) { self.bodyByteCountMax = bodyByteCountMax }

    /// - Parameter line: with its line end. The status line and the empty line come here, too.
    mutating func takeHeader(_ line: UnsafeRawBufferPointer) {
        headerByteCount += line.count
        guard headerByteCount <= Self.headerByteCountMax else { return isTooLarge = true }
        // A new status line: the headers so far belong to an interim answer, and are dropped.
        if line.starts(with: "HTTP/".utf8) { (headers, isHeaded) = ([:], false) }
        if line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n") { isHeaded = true }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        var value = line[(colon + 1)...]
        while let first = value.first, Self.isBlank(first) { value.removeFirst() }
        while let last = value.last, Self.isBlank(last) { value.removeLast() }
        headers[name] = String(decoding: value, as: UTF8.self)
    }

    /// Whether the byte is white space around a value, or part of the line's end.
    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
            || byte == UInt8(ascii: "\n")
    }

    /// Whether as many bytes have arrived as Content-Length says.
    var isWhole: Bool { isHeaded && headers["content-length"] == String(body.count) }

    mutating func takeBody(_ part: UnsafeRawBufferPointer) {
        guard body.count + part.count <= bodyByteCountMax else { return isTooLarge = true }
        body.append(contentsOf: part)
    }
}
