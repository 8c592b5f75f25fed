// An HTTP answer as it arrives, up to its bounds.

/// Takes header lines and parts of the body, up to what would be too much.
struct AnswerReader {
    static let headerByteCountMax = 16 << 10

    private(set) var headers: [String: String] = [:]
    private(set) var body: [UInt8] = []
    private let bodyByteCountMax: Int
    /// Of all header lines, those of interim answers and trailers too.
    private var headerByteCount = 0
    private(set) var isTooLarge = false
    /// The last answer's headers have ended.
    private(set) var isHeaded = false

    init(bodyByteCountMax: Int) { self.bodyByteCountMax = bodyByteCountMax }

    /// A line with its end, the status line and the empty one as well.
    mutating func takeHeader(_ line: UnsafeRawBufferPointer) {
        headerByteCount += line.count
        guard headerByteCount <= Self.headerByteCountMax else { return isTooLarge = true }
        // An interim answer's are none of the answer's.
        if line.starts(with: "HTTP/".utf8) { (headers, isHeaded) = ([:], false) }
        if line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n") { isHeaded = true }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        var value = line[(colon + 1)...]
        while let first = value.first, Self.isBlank(first) { value.removeFirst() }
        while let last = value.last, Self.isBlank(last) { value.removeLast() }
        headers[name] = String(decoding: value, as: UTF8.self)
    }

    /// Of what surrounds a value, the line's end among it.
    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
            || byte == UInt8(ascii: "\n")
    }

    /// As many bytes have come as were announced.
    var isWhole: Bool { isHeaded && headers["content-length"] == String(body.count) }

    mutating func takeBody(_ part: UnsafeRawBufferPointer) {
        guard body.count + part.count <= bodyByteCountMax else { return isTooLarge = true }
        body.append(contentsOf: part)
    }
}
