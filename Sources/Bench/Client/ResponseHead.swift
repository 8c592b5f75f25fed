// The head of an HTTP/1.1 answer as far as a load generator needs it: status, length, whether the connection ends.
import Glibc

/// The answer is not one that this client reads.
package struct BadResponse: Error, Equatable, CustomStringConvertible {
    package let description: String
}

/// Reads the head of an answer. It supports answers without a body or with `Content-Length`: Parley and nginx send
/// nothing else here. It refuses a chunked answer.
package struct ResponseHead: Equatable, Sendable {
    package var status = 0
    /// Bytes of the head, with the empty line.
    package var byteCount = 0
    package var bodyByteCount = 0
    /// `Connection: close`.
    package var closes = false

    package var wholeByteCount: Int { byteCount + bodyByteCount }

    /// Longer heads are refused: without a bound a broken server would fill the memory.
    package static let byteCountMax = 16_384

    /// Longer bodies are refused as well: the longest answers are pages of messages.
    package static let bodyByteCountMax = 1 << 28

    /// Returns nil when the head is incomplete. 0.2 µs for 250 bytes.
    package static func parse(_ bytes: UnsafeRawBufferPointer) throws(BadResponse) -> ResponseHead? {
        guard let base = bytes.baseAddress else { return nil }
        var head = ResponseHead()
        var hasLength = false
        var at = 0
        while at < bytes.count {
            guard let found = memchr(base + at, 0x0a, bytes.count - at) else { break }
            let next = UnsafeRawPointer(found) - base + 1
            let line = UnsafeRawBufferPointer(rebasing: bytes[at..<next - 1])
            if at == 0 {
                head.status = try status(line)
            } else if line.isEmpty || line.count == 1 && line[0] == 0x0d {
                head.byteCount = next
                let hasNoBody = head.status == 204 || head.status == 304 || head.status < 200
                if hasNoBody { head.bodyByteCount = 0 }
                guard hasLength || hasNoBody else { throw BadResponse(description: "an answer without Content-Length") }
                return head
            } else if let value = line.value(ofHeader: "content-length") {
                guard let length = value.decimal, length <= bodyByteCountMax else {
                    throw BadResponse(description: "a bad Content-Length")
                }
                head.bodyByteCount = length
                hasLength = true
            } else if let value = line.value(ofHeader: "connection") {
                head.closes = value.equals(lowercased: "close")
            } else if line.value(ofHeader: "transfer-encoding") != nil {
                throw BadResponse(description: "an answer in chunks")
            }
            at = next
        }
        guard bytes.count <= byteCountMax else { throw BadResponse(description: "an endless head") }
        return nil
    }

    /// Reads the status of "HTTP/1.1 200 OK".
    private static func status(_ line: UnsafeRawBufferPointer) throws(BadResponse) -> Int {
        guard line.count >= 12, line.starts(with: "HTTP/1.".utf8),
            let code = UnsafeRawBufferPointer(rebasing: line[9..<12]).decimal
        else { throw BadResponse(description: "no HTTP answer") }
        return code
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the value of a header line without white space around it; nil when the line has another name.
    /// - Parameter name: in lower case.
    func value(ofHeader name: StaticString) -> UnsafeRawBufferPointer? {
        let length = name.utf8CodeUnitCount
        guard count > length, self[length] == UInt8(ascii: ":") else { return nil }
        for index in 0..<length where self[index] | 0x20 != name.utf8Start[index] { return nil }
        var start = length + 1
        var end = count
        while start < end, self[start] <= 0x20 { start += 1 }
        while end > start, self[end - 1] <= 0x20 { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: self[start..<end])
    }

    /// The value of a text of digits that fits an Int; nil otherwise.
    var decimal: Int? {
        guard !isEmpty, count <= 15 else { return nil }
        var value = 0
        for byte in self {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return value
    }

    func equals(lowercased word: StaticString) -> Bool {
        guard count == word.utf8CodeUnitCount else { return false }
        for index in 0..<count where self[index] | 0x20 != word.utf8Start[index] { return false }
        return true
    }
}
