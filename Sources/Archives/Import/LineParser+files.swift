// Lines about files: `attachment` and `attachment_data`.
import Basics
import Domain
import Pictures
import Store

extension LineParser {
    /// Bytes of one `attachment_data`, so that the line with its base64 has at most 1 MiB.
    package static let chunkByteCountMax = 524_288

    func attachment(_ data: JSONValue, line: Int) throws(Invalid) -> JSONValue {
        var fields = try Fields(data, ignoresUnknown: true)
        var row = RowWriter(line: line)
        row.set("id", fields.required("id", AttachmentID.self))
        row.set("owner_id", fields.required("owner_id", UserID.self))
        row.set(
            "name",
            fields.required("name") { json throws(Invalid) in
                try Self.text(json, countMax: AttachmentSizes.nameByteCountMax)
            })
        for (name, column) in [("media_type", "media_type"), ("declared_type", "declared_type")] {
            row.set(column, fields.optional(name) { json throws(Invalid) in try Self.text(json, countMax: 255) })
        }
        let most = limits.attachmentByteCountMax
        row.set("size", number: fields.required("size") { json throws(Invalid) in try Self.number(json, in: 0...most) })
        row.set("digest", fields.required("sha256") { json throws(Invalid) in try Self.digest(json) })
        for name in ["width", "height"] {
            row.set(
                name, number: fields.optional(name) { json throws(Invalid) in try Self.number(json, in: 1...1_000_000) }
            )
        }
        row.set(
            "thumbhash",
            fields.optional("thumbhash") { json throws(Invalid) in
                try Self.base64(json, byteCountMax: 100)
            })
        row.set("created_at", fields.required("created_at", Timestamp.self))
        let thumbnail = fields.optional("thumbnail") { json throws(Invalid) in try Self.thumbnail(json) }
        try fields.end()
        row.set("thumbnail_is_own", thumbnail?.isOwn ?? false)
        row.set("thumbnail_type", thumbnail?.type)
        row.set("thumbnail_size", number: thumbnail?.size)
        row.set("thumbnail_digest", thumbnail?.digest)
        return row.json
    }

    private struct Thumbnail {
        var type: String
        var size: Int
        var digest: [UInt8]
        var isOwn: Bool
    }

    private static func thumbnail(_ json: JSONValue) throws(Invalid) -> Thumbnail {
        var fields = try Fields(json, ignoresUnknown: true)
        let type = fields.required("type") { json throws(Invalid) in try text(json, countMax: 255) }
        let size = fields.required("size") { json throws(Invalid) in
            try number(json, in: 1...AttachmentSizes.thumbnailByteCountMax)
        }
        let digest = fields.required("sha256") { json throws(Invalid) in try Self.digest(json) }
        let isOwn = fields.optional("own", Bool.self) ?? false
        let (kind, byteCount, sum) = try fields.values(type, size, digest)
        return Thumbnail(type: kind, size: byteCount, digest: sum, isOwn: isOwn)
    }

    func chunk(_ data: JSONValue, line: Int) throws(Invalid) -> ImportedChunk {
        var fields = try Fields(data, ignoresUnknown: true)
        let id = fields.required("id", AttachmentID.self)
        let variant = fields.required("variant", Variant.self)
        let number = fields.required("n") { json throws(Invalid) in try Self.number(json, in: 0...Int(Int32.max)) }
        let bytes = fields.required("data") { json throws(Invalid) in
            try Self.base64(json, byteCountMax: Self.chunkByteCountMax)
        }
        let (attachment, kind, place, content) = try fields.values(id, variant, number, bytes)
        if kind == .thumbnail { try Self.check(thumbnail: content, number: place) }
        return ImportedChunk(
            line: line, attachment: attachment, variant: kind == .original ? .original : .thumbnail,
            number: Int32(place), bytes: content)
    }

    /// As of a client's own thumbnail: everyone who sees the message decodes it.
    private static func check(thumbnail bytes: [UInt8], number: Int) throws(Invalid) {
        guard number == 0, bytes.count <= AttachmentSizes.thumbnailByteCountMax else {
            throw Invalid(
                "Must be 0: a thumbnail is one part of at most \(AttachmentSizes.thumbnailByteCountMax) bytes."
            )
            .inside("n")
        }
        let types: [MediaType] = [.jpeg, .png, .webp]
        guard MediaType.sniff(bytes).map({ types.contains($0) }) == true,
            let picture = try? CleanPicture(cleaning: bytes)
        else { throw Invalid("Must be a JPEG, PNG or WebP picture that can be read.").inside("data") }
        if let reason = picture.header.thumbnailRefusal(sideMax: AttachmentSizes.thumbnailSideMax) {
            throw Invalid(reason).inside("data")
        }
    }

    private enum Variant: String, WordField { case original, thumbnail }

    private static func text(_ json: JSONValue, countMax: Int) throws(Invalid) -> String {
        guard let text = json.string, (1...countMax).contains(text.utf8.count) else {
            throw Invalid("Must be a text of 1 to \(countMax) bytes.")
        }
        return text
    }

    private static func number(_ json: JSONValue, in range: ClosedRange<Int>) throws(Invalid) -> Int {
        guard let number = json.integer.map({ Int($0) }), range.contains(number) else {
            throw Invalid("Must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    private static func digest(_ json: JSONValue) throws(Invalid) -> [UInt8] {
        guard let bytes = [UInt8](hexadecimal: json.string ?? ""), bytes.count == 32 else {
            throw Invalid("Must be 64 hexadecimal digits.")
        }
        return bytes
    }

    /// With padding or without. Line breaks, as PostgreSQL and others write them, are ignored.
    private static func base64(_ json: JSONValue, byteCountMax: Int) throws(Invalid) -> [UInt8] {
        let sentence = "Must be base64 of at most \(byteCountMax) bytes."
        guard var text = json.string?.utf8[...] else { throw Invalid(sentence) }
        while text.last == UInt8(ascii: "=") { text.removeLast() }
        let bytes =
            text.contains(UInt8(ascii: "\n"))
            ? decode(text.filter { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }) : decode(Array(text))
        guard let bytes, bytes.count <= byteCountMax else { throw Invalid(sentence) }
        return bytes
    }

    private static func decode(_ text: [UInt8]) -> [UInt8]? {
        text.withUnsafeBufferPointer { Base64.standard.decode($0) }
    }
}
