// The headers of resumable uploads (draft-ietf-httpbis-resumable-upload-11), read and written.
import Domain
import HTTPTypes
import Transport

extension HTTPField.Name {
    static let uploadComplete = Self("Upload-Complete")!
    static let uploadOffset = Self("Upload-Offset")!
    static let uploadLength = Self("Upload-Length")!
    static let uploadLimit = Self("Upload-Limit")!
    static let uploadDraftInteropVersion = Self("Upload-Draft-Interop-Version")!
}

/// The upload headers of a request.
struct UploadHeaders: Equatable {
    /// It is nil without `Upload-Complete`.
    var isComplete: Bool?
    var offset: Int?
    /// The length of the whole upload.
    var length: Int?
    /// The length of this request's body. Nil for a chunked body.
    var contentLength: Int?

    /// Throws 422 with all mistakes.
    init(_ headers: RequestHeaders) throws(Problem) {
        var mistakes: [Problem.Field] = []
        func read<Value>(_ name: HTTPField.Name, _ rule: String, _ parse: (String) -> Value?) -> Value? {
            guard let text = headers[name] else { return nil }
            let value = parse(text)
            if value == nil { mistakes.append(Problem.Field(name.rawName, rule)) }
            return value
        }
        isComplete = read(.uploadComplete, "Must be ?1 or ?0.", StructuredField.boolean)
        let number = "Must be a whole number from 0 to 999999999999999."
        offset = read(.uploadOffset, number, StructuredField.count)
        length = read(.uploadLength, number, StructuredField.count)
        if headers[values: .transferEncoding].isEmpty {
            contentLength = headers[.contentLength].map { Int($0) ?? 0 } ?? 0
        }
        if !mistakes.isEmpty { throw .invalid(mistakes) }
    }

    /// A body cannot reach beyond the upload's length, and a body that completes the upload ends there.
    /// - Parameter length: the length of the whole upload, as this request or an earlier one says.
    /// - Throws: 422 if the lengths do not agree.
    func checkLength(_ length: Int?, offset: Int) throws(Problem) {
        guard let length, let contentLength else { return }
        let end = offset + contentLength
        // Without `Upload-Complete` the request is a plain upload, so its body is the whole file.
        guard isComplete ?? true ? end != length : end > length else { return }
        throw .invalid(
            HTTPField.Name.uploadLength.rawName,
            "Must agree with Content-Length: the upload would have \(end) bytes, not \(length).")
    }
}

/// Items of structured fields (RFC 9651). Parameters of an item are ignored, as the RFC asks of those that are unknown.
enum StructuredField {
    static func boolean(_ text: String) -> Bool? {
        switch String(item(text)) {
        case "?1": true
        case "?0": false
        default: nil
        }
    }

    /// A whole number of at most 15 digits that is not negative.
    static func count(_ text: String) -> Int? {
        let digits = item(text).utf8
        guard (1...15).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(Substring(digits))
    }

    private static func item(_ text: String) -> Substring {
        var parts = HeaderList(text[...].utf8, separator: ";", countMax: 1)
        return parts.next().map { Substring($0) } ?? ""
    }
}

extension HTTPFields {
    /// Sets the headers that say how far an upload is.
    mutating func setUpload(offset: Int, isComplete: Bool, length: Int? = nil) {
        self[.uploadOffset] = String(offset)
        self[.uploadComplete] = isComplete ? "?1" : "?0"
        if let length { self[.uploadLength] = String(length) }
    }

    /// The largest size of an attachment, and the seconds for which an unfinished upload is kept after its last byte.
    mutating func setUploadLimit(_ limits: Limits) {
        self[.uploadLimit] =
            "max-size=\(limits.attachmentByteCountMax), max-age=\(limits.unusedAttachmentHours * 3_600)"
    }
}
