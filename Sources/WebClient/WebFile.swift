// One file of the web client: its bytes, its type, and its compressed form.

import Basics

package struct WebFile: Sendable {
    package let mediaType: String
    package let bytes: [UInt8]
    /// It is nil if compression does not save a tenth.
    package let gzipped: [UInt8]?
    /// Whether the path names the version, so that the file never changes.
    package let isOfVersion: Bool

    init(name: String, text: String, isOfVersion: Bool) {
        bytes = Array(text.utf8)
        mediaType = Self.mediaType(of: name)
        self.isOfVersion = isOfVersion
        let gzipped = Gzip.compress(bytes)
        self.gzipped = gzipped.count * 10 < bytes.count * 9 ? gzipped : nil
    }

    /// A file whose bytes are in Base64. Nil if they are not.
    init?(encoded text: String, name: String, isOfVersion: Bool) {
        guard let bytes = Base64.standard.decode(text.filter { !$0.isWhitespace && $0 != "=" }) else { return nil }
        (self.bytes, mediaType, self.isOfVersion) = (bytes, Self.mediaType(of: name), isOfVersion)
        gzipped = nil
    }

    /// The same file at a path that does not name the version.
    var ofNoVersion: WebFile { WebFile(self) }

    private init(_ file: WebFile) {
        (bytes, mediaType, gzipped, isOfVersion) = (file.bytes, file.mediaType, file.gzipped, false)
    }

    /// The type by the end of the name. A browser refuses to run or show a file of the type for other names.
    static func mediaType(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "json": "application/json"
        case "webmanifest": "application/manifest+json"
        case "svg": "image/svg+xml"
        case "png": "image/png"
        default: "application/octet-stream"
        }
    }
}
