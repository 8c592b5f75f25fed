// Requests as bytes: written into a reused buffer, or built once.

/// Appends to a buffer of fixed size. Text that does not fit is a bug of this program and ends it.
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
        // A string of up to 15 digits needs no allocation.
        var text = String(number)
        text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    }
}

/// Builds a complete request.
package func requestBytes(
    _ method: String, _ target: String, at endpoint: Endpoint, token: String? = nil, body: String? = nil
) -> [UInt8] {
    var head = "\(method) \(target) HTTP/1.1\r\nHost: \(endpoint.authority)\r\n"
    if let token { head += "Authorization: Bearer \(token)\r\n" }
    if let body { head += "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n" }
    return Array((head + "\r\n" + (body ?? "")).utf8)
}
