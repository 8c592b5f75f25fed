// Renders the head of an answer by hand. `HTTPConnection` decides when and where it is sent.

import HTTPTypes
import NIOCore

/// How the client finds the end of a body.
enum BodyFraming {
    case length(Int)
    case chunked
    /// HTTP/1.0 has no chunks: the end of the connection is the end of the body.
    case untilClose
    /// 204 and 304, and a HEAD answer of unknown length: no body, and no header about one.
    case none
}

enum ConnectionHeader {
    /// The default of HTTP/1.1 needs no header.
    case none
    case keepAlive
    case close
}

extension ByteBuffer {
    /// Writes the head. Returns the index of the request's number, for `setRequestNumber`.
    /// - Parameters:
    ///   - common: the lines that all answers have, with their CRLFs.
    ///   - crossOrigin: the lines for web pages of other origins. Nil without a policy.
    @discardableResult
    mutating func writeHead(
        _ status: HTTPResponse.Status, _ headers: HTTPFields, number: RequestNumber, framing: BodyFraming,
        connection: ConnectionHeader, common: ByteBuffer, crossOrigin: ByteBuffer?
    ) -> Int {
        writeStatusLine(status)
        let numberIndex = writeRequestNumber(number)
        var hasCacheControl = false
        for field in headers {
            switch field.name.canonicalName {
            case "connection", "content-length", "date", "transfer-encoding", "keep-alive": continue
            case "cache-control": hasCacheControl = true
            default: break
            }
            writeField(field)
        }
        writeImmutableBuffer(common)
        // Answers are private by default. An endpoint that allows caching says so.
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

    /// Writes a whole interim answer (RFC 9110, 15.2).
    mutating func writeInterimHead(_ status: HTTPResponse.Status, _ headers: HTTPFields) {
        writeStatusLine(status)
        for field in headers { writeField(field) }
        writeStaticString("\r\n")
    }

    private mutating func writeStatusLine(_ status: HTTPResponse.Status) {
        writeStaticString("HTTP/1.1 ")
        writeDecimal(status.code)
        writeInteger(UInt8(ascii: " "))
        writeString(status.reasonPhrase)
        writeStaticString("\r\n")
    }

    private mutating func writeField(_ field: HTTPField) {
        writeString(field.name.rawName)
        writeStaticString(": ")
        _ = field.withUnsafeBytesOfValue { writeBytes($0) }
        writeStaticString("\r\n")
    }

    private mutating func writeDecimal(_ number: Int) {
        // A string of up to 15 digits needs no allocation.
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
    /// These statuses never have a body, whatever the headers say (RFC 9110, 6.4.1).
    var forbidsBody: Bool { code == 204 || code == 304 || code < 200 }
}
