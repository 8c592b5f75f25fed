// Writes an answer's head by hand. Which connection it goes to, and when, is `HTTPConnection`'s.

import HTTPTypes
import NIOCore

/// How the end of a body is told.
enum BodyFraming {
    case length(Int)
    case chunked
    /// HTTP/1.0 knows no chunks: the connection's end is the body's.
    case untilClose
    /// 204 and 304, and a HEAD answer of unknown length: no body and nothing said about one.
    case none
}

enum ConnectionHeader {
    /// HTTP/1.1's default needs no words.
    case none
    case keepAlive
    case close
}

extension ByteBuffer {
    /// Gives the index at which the request's number is, for `setRequestNumber`.
    /// - Parameters:
    ///   - common: the lines that all answers have, with their CRLFs.
    ///   - crossOrigin: the lines for web pages of other origins; nil without a policy.
    @discardableResult
    mutating func writeHead(
        _ status: HTTPResponse.Status, _ headers: HTTPFields, number: RequestNumber, framing: BodyFraming,
        connection: ConnectionHeader, common: ByteBuffer, crossOrigin: ByteBuffer?
    ) -> Int {
        writeStaticString("HTTP/1.1 ")
        writeDecimal(status.code)
        writeInteger(UInt8(ascii: " "))
        writeString(status.reasonPhrase)
        writeStaticString("\r\n")
        let numberIndex = writeRequestNumber(number)
        var hasCacheControl = false
        for field in headers {
            switch field.name.canonicalName {
            case "connection", "content-length", "date", "transfer-encoding", "keep-alive": continue
            case "cache-control": hasCacheControl = true
            default: break
            }
            writeString(field.name.rawName)
            writeStaticString(": ")
            _ = field.withUnsafeBytesOfValue { writeBytes($0) }
            writeStaticString("\r\n")
        }
        writeImmutableBuffer(common)
        // What is somebody's own is nobody else's to keep. Who knows better says so.
        if !hasCacheControl { writeStaticString("Cache-Control: no-store\r\n") }
        if let crossOrigin { writeImmutableBuffer(crossOrigin) }
        switch framing {
        case .length(let byteCount):
            writeStaticString("Content-Length: ")
            writeDecimal(byteCount)
            writeStaticString("\r\n")
        case .chunked: writeStaticString("Transfer-Encoding: chunked\r\n")
        case .untilClose, .none: break
        }
        switch connection {
        case .none: writeStaticString("\r\n")
        case .keepAlive: writeStaticString("Connection: keep-alive\r\n\r\n")
        case .close: writeStaticString("Connection: close\r\n\r\n")
        }
        return numberIndex
    }

    private mutating func writeDecimal(_ number: Int) {
        // Up to 15 digits are a string without an allocation.
        writeString(String(number))
    }

    mutating func writeChunk(_ chunk: ByteBuffer) {
        writeString(String(chunk.readableBytes, radix: 16))
        writeStaticString("\r\n")
        writeImmutableBuffer(chunk)
        writeStaticString("\r\n")
    }
}

extension HTTPResponse.Status {
    /// RFC 9110, 6.4.1: whatever the headers say, these have no body.
    var forbidsBody: Bool { code == 204 || code == 304 || code < 200 }
}
