// The forms of a request target (RFC 9112, 3.2), reduced to origin form. Percent-encoding is left alone.

import HTTPTypes

enum RequestTarget {
    /// Path and query, or `*`.
    static func originForm(_ target: String, method: HTTPRequest.Method) throws(TransportFailure) -> String {
        // U+FFFD stands where the bytes were not UTF-8: a path that the client never meant.
        guard target.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "#") }),
            target.utf8.allSatisfy({ $0 < 0x80 }) || !target.unicodeScalars.contains("\u{FFFD}")
        else { throw .malformed }
        if target.utf8.first == UInt8(ascii: "/") { return target }
        if target == "*" {
            guard method == .options else { throw .malformed }
            return target
        }
        return try reduced(target, method: method)
    }

    /// absolute-form, which a server must take; scheme and authority tell us nothing.
    private static func reduced(_ target: String, method: HTTPRequest.Method) throws(TransportFailure) -> String {
        guard let schemeEnd = target.firstRange(of: "://"),
            ["http", "https"].contains(target[..<schemeEnd.lowerBound].lowercased())
        else { throw .malformed }
        let rest = target[schemeEnd.upperBound...]
        let pathStart = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        guard pathStart > rest.startIndex, rest[..<pathStart].utf8.allSatisfy(isOfAuthority) else { throw .malformed }
        let path = String(rest[pathStart...])
        if path.isEmpty { return method == .options ? "*" : "/" }
        return path.hasPrefix("/") ? path : "/" + path
    }

    /// Whether a byte may stand in a host with its port; no name and password before it (RFC 9110, 4.2.4), nothing behind.
    static func isOfAuthority(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "@"), UInt8(ascii: "\\"),
            UInt8(ascii: ","):
            false
        default: byte > 0x20 && byte < 0x7F
        }
    }

    /// The count of bytes before the first `?`.
    static func pathByteCount(_ target: String) -> Int {
        let bytes = target.utf8
        guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")) else { return bytes.count }
        return bytes.distance(from: bytes.startIndex, to: mark)
    }
}
