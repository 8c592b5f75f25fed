// The forms of a request target (RFC 9112, 3.2), reduced to origin form. Percent-encoding stays as it is.

import HTTPTypes

enum RequestTarget {
    /// Path and query, or `*`.
    static func originForm(_ target: String, method: HTTPRequest.Method) throws(TransportFailure) -> String {
        // U+FFFD stands for bytes that are not UTF-8: a path that the client did not mean.
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

    /// Reduces the absolute form, which a server must accept. Scheme and authority are ignored. Works on bytes, because
    /// a client may send thousands of any character.
    private static func reduced(_ target: String, method: HTTPRequest.Method) throws(TransportFailure) -> String {
        guard let scheme = (["http://", "https://"] as [StaticString]).first(where: { begins(target.utf8, with: $0) })
        else {
            throw .malformed
        }
        let rest = target.utf8.dropFirst(scheme.utf8CodeUnitCount)
        let pathStart = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        guard pathStart > rest.startIndex, rest[..<pathStart].allSatisfy(isOfAuthority) else { throw .malformed }
        let path = String(Substring(rest[pathStart...]))
        if path.isEmpty { return method == .options ? "*" : "/" }
        return path.utf8.first == UInt8(ascii: "/") ? path : "/" + path
    }

    private static func begins(_ target: String.UTF8View, with scheme: StaticString) -> Bool {
        let letters = target.prefix(scheme.utf8CodeUnitCount).map { (65...90).contains($0) ? $0 | 0x20 : $0 }
        return scheme.withUTF8Buffer { $0.elementsEqual(letters) }
    }

    /// Whether a byte may be part of a host with its port. User names, passwords (RFC 9110, 4.2.4) and paths are not
    /// allowed.
    static func isOfAuthority(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "@"), UInt8(ascii: "\\"),
            UInt8(ascii: ","):
            false
        default: byte > 0x20 && byte < 0x7F
        }
    }

    /// The number of bytes before the first `?`.
    static func pathByteCount(_ target: String) -> Int {
        let bytes = target.utf8
        guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")) else { return bytes.count }
        return bytes.distance(from: bytes.startIndex, to: mark)
    }
}
