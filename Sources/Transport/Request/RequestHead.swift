// Checks what NIO's parser (llhttp) has read: limits, and forms that two parsers could read differently. Pure: takes a
// head, and returns a checked head or a failure.

import HTTPTypes
import NIOHTTP1

/// A request's line and headers, checked.
struct RequestHead: Sendable {
    enum Framing: Equatable {
        case none
        case length(Int)
        case chunked
    }

    let method: HTTPRequest.Method
    /// The target in origin form.
    let target: String
    let pathByteCount: Int
    let headers: RequestHeaders
    /// HTTP/1.0 has no chunked answers and no `100 Continue`, and closes unless the client asks otherwise.
    let isHTTP10: Bool
    let keepsAlive: Bool
    let framing: Framing
    let expectsContinue: Bool

    init(_ head: HTTPRequestHead, settings: TransportSettings) throws(TransportFailure) {
        guard head.uri.utf8.count <= settings.targetByteCountMax else { throw .targetTooLong }
        guard head.version.major == 1 else { throw .versionNotSupported }
        let method = try Self.method(head.method)
        self.method = method
        self.target = try RequestTarget.originForm(head.uri, method: method)
        self.pathByteCount = RequestTarget.pathByteCount(target)
        self.isHTTP10 = head.version.minor == 0
        self.headers = RequestHeaders(headers: head.headers)
        var fields = GoverningFields()
        for (name, value) in head.headers { try fields.read(name, value) }
        // RFC 9112, 3.2: exactly one Host in HTTP/1.1, never two.
        guard fields.hostCount == 1 || fields.hostCount == 0 && isHTTP10 else { throw .malformed }
        self.framing = try fields.framing(isHTTP10: isHTTP10)
        self.expectsContinue = fields.expectsContinue && !isHTTP10 && framing != .none
        // llhttp stops parsing after a request for an upgrade. Upgrades are not supported, so the connection closes.
        self.keepsAlive = head.isKeepAlive && !fields.asksForUpgrade
    }

    private static func method(_ method: HTTPMethod) throws(TransportFailure) -> HTTPRequest.Method {
        switch method {
        case .GET: return .get
        case .POST: return .post
        case .PUT: return .put
        case .DELETE: return .delete
        case .PATCH: return .patch
        case .HEAD: return .head
        case .OPTIONS: return .options
        default:
            guard let other = HTTPRequest.Method(method.rawValue), other != .connect else { throw .malformed }
            return other
        }
    }
}

/// The fields that describe the message itself.
private struct GoverningFields {
    var hostCount = 0
    var contentLength: Int?
    var isChunked = false
    var expectsContinue = false
    var asksForUpgrade = false

    /// Reads one field, if it is one of these. Checks the bytes of every field.
    mutating func read(_ name: String, _ value: String) throws(TransportFailure) {
        // By length first, because most fields are none of these. Values with line breaks are folded lines (RFC 9112,
        // 5.2).
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { throw .malformed }
        switch name.utf8.count {
        case 4 where name.lowercased() == "host":
            hostCount += 1
            guard value.utf8.allSatisfy(RequestTarget.isOfAuthority) else { throw .malformed }
        case 6 where name.lowercased() == "expect":
            guard value.utf8.count == 12, value.lowercased() == "100-continue" else { throw .expectationFailed }
            expectsContinue = true
        case 7 where name.lowercased() == "upgrade":
            asksForUpgrade = true
        case 14 where name.lowercased() == "content-length":
            guard contentLength == nil, (1...18).contains(value.utf8.count),
                value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(value)
            else { throw .malformed }
            contentLength = length
        case 17 where name.lowercased() == "transfer-encoding":
            guard !isChunked else { throw .malformed }
            guard value.utf8.count == 7, value.lowercased() == "chunked" else { throw .notImplemented }
            isChunked = true
        default:
            break
        }
    }

    func framing(isHTTP10: Bool) throws(TransportFailure) -> RequestHead.Framing {
        if isChunked {
            // Both together are used to smuggle requests past a proxy (RFC 9112, 6.1 and 6.3).
            guard contentLength == nil, !isHTTP10 else { throw .malformed }
            return .chunked
        }
        guard let contentLength, contentLength > 0 else { return .none }
        return .length(contentLength)
    }
}
