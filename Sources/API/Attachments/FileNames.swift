// The names of files: as a client gives them, and in the Content-Disposition of a download.
import Basics
import Domain

/// A file's name that is safe to show and to save: one line without path separators, control characters and characters
/// that change the direction of text.
enum FileName {
    /// Returns the name with unsafe characters replaced, cut to the limit with its extension kept. Nil if nothing
    /// remains.
    static func safe(_ given: String) -> String? {
        let line = String(given.showable.map { $0 == "/" || $0 == "\\" ? "_" : $0 })
        let name = String(line[...].trimmedSpaces)
        guard !name.isEmpty, name != ".", name != ".." else { return nil }
        return cut(name)
    }

    /// The name of a file that came without one.
    static func standard(type: String?) -> String {
        let type = type.map { String($0.prefix { $0 != ";" }).lowercased() }
        let known = extensions.first { $0.type == type }
        return known.map { "file." + $0.suffix } ?? "file"
    }

    private static let extensions: [(type: String, suffix: String)] = [
        ("image/jpeg", "jpg"), ("image/png", "png"), ("image/gif", "gif"), ("image/webp", "webp"),
        ("image/heic", "heic"), ("video/mp4", "mp4"), ("video/webm", "webm"), ("audio/mpeg", "mp3"),
        ("audio/ogg", "ogg"), ("application/pdf", "pdf"), ("application/zip", "zip"), ("text/plain", "txt"),
    ]

    private static let extensionByteCountMax = 16

    private static func cut(_ name: String) -> String {
        guard name.utf8.count > AttachmentSizes.nameByteCountMax else { return name }
        var suffix = name.lastIndex(of: ".").map { name[$0...] } ?? ""
        if suffix.utf8.count > extensionByteCountMax { suffix = "" }
        var stem = name.prefix(AttachmentSizes.nameByteCountMax)
        while stem.utf8.count + suffix.utf8.count > AttachmentSizes.nameByteCountMax { stem.removeLast() }
        return String(stem + suffix)
    }
}

extension Substring {
    fileprivate var trimmedSpaces: Substring {
        let start = drop { $0 == " " }
        return start.lastIndex { $0 != " " }.map { start[...$0] } ?? ""
    }
}

/// The Content-Disposition header (RFC 6266).
enum ContentDisposition {
    private static let parameterCountMax = 8

    /// Returns the file name of an upload. `filename*` wins over `filename`. Nil without one that can be read.
    static func fileName(in header: String) -> String? {
        var plain: String?
        for (name, value) in parameters(header[...].utf8) {
            if name.equals(ignoringCase: "filename*"), let text = extended(value) { return text }
            if plain == nil, name.equals(ignoringCase: "filename") { plain = String(decoding: value, as: UTF8.self) }
        }
        return plain
    }

    /// Renders the header of a download: an ASCII name for old clients, and the real one.
    static func render(isInline: Bool, name: String) -> String {
        let ascii = name.unicodeScalars.map { scalar -> Character in
            let isPlain = (0x20...0x7e).contains(scalar.value) && !"\"\\%".unicodeScalars.contains(scalar)
            return isPlain ? Character(scalar) : "_"
        }
        let disposition = isInline ? "inline" : "attachment"
        return "\(disposition); filename=\"\(String(ascii))\"; filename*=UTF-8''\(name.percentEncoded())"
    }

    /// The parameters after the type. Values in quotes are returned without quotes and escapes.
    private static func parameters(_ header: Substring.UTF8View) -> [(name: Substring.UTF8View, value: [UInt8])] {
        var found: [(Substring.UTF8View, [UInt8])] = []
        guard var at = header.firstIndex(of: UInt8(ascii: ";")) else { return [] }
        while at < header.endIndex, found.count < parameterCountMax {
            let start = header.index(after: at)
            guard let mark = header[start...].firstIndex(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ";") })
            else { break }
            guard header[mark] == UInt8(ascii: "=") else {
                // A parameter without a value.
                at = mark
                continue
            }
            let name = header[start..<mark].trimmed
            let (value, end) = self.value(header[header.index(after: mark)...])
            found.append((name, value))
            at = header[end...].firstIndex(of: UInt8(ascii: ";")) ?? header.endIndex
        }
        return found
    }

    /// A token, or a quoted string. Returns the index after it.
    private static func value(_ rest: Substring.UTF8View) -> ([UInt8], String.Index) {
        let text = rest.drop { $0 == 0x20 || $0 == 0x09 }
        guard text.first == UInt8(ascii: "\"") else {
            let end = text.firstIndex(of: UInt8(ascii: ";")) ?? text.endIndex
            return (Array(text[..<end].trimmed), end)
        }
        var bytes: [UInt8] = []
        var at = text.index(after: text.startIndex)
        while at < text.endIndex, text[at] != UInt8(ascii: "\"") {
            if text[at] == UInt8(ascii: "\\"), text.index(after: at) < text.endIndex { at = text.index(after: at) }
            bytes.append(text[at])
            at = text.index(after: at)
        }
        return (bytes, at)
    }

    /// `UTF-8''%e2%82%ac` (RFC 8187). Other character sets are not read.
    private static func extended(_ value: [UInt8]) -> String? {
        let parts = value.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, String(decoding: parts[0], as: UTF8.self).lowercased() == "utf-8" else { return nil }
        return String(validating: parts[2], as: UTF8.self).flatMap { percentDecoded($0[...].utf8, plusIsSpace: false) }
    }
}
