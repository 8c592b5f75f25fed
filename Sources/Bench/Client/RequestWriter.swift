// Requests as bytes: written into a space that is used again and again, or once for all.

/// Appends to a space of fixed size. What doesn't fit would be a request of this program's own making, and ends it.
package struct RequestWriter {
    private let space: UnsafeMutableRawBufferPointer
    private var count = 0

    package init(_ space: UnsafeMutableRawBufferPointer) { self.space = space }

    package var written: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: space[..<count]) }

    package mutating func write(_ text: StaticString) {
        write(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    package mutating func write(_ bytes: [UInt8]) { bytes.withUnsafeBytes { write($0) } }

    package mutating func write(_ bytes: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(rebasing: space[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    package mutating func write(_ number: Int) {
        // Up to 15 digits are a string without an allocation.
        var text = String(number)
        text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    }
}

/// A whole request, made once.
package func requestBytes(
    _ method: String, _ target: String, at endpoint: Endpoint, token: String? = nil, body: String? = nil
) -> [UInt8] {
    var head = "\(method) \(target) HTTP/1.1\r\nHost: \(endpoint.authority)\r\n"
    if let token { head += "Authorization: Bearer \(token)\r\n" }
    if let body { head += "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n" }
    return Array((head + "\r\n" + (body ?? "")).utf8)
}
