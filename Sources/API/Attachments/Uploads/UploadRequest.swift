// What a request for an upload says about the file and about itself.
import Domain
import HTTPTypes
import Store

/// A request that begins an upload.
struct UploadRequest {
    private static let typeByteCountMax = 255

    let name: String
    /// As the client says; the service finds out what the bytes are.
    let declaredType: String?
    /// Whether the body is the file's end.
    let isComplete: Bool
    /// The length of the whole file, if it is known.
    let length: Int?
    /// The length of this body, if it is known.
    let contentLength: Int?

    /// Throws 422 for the query and the headers.
    init(_ call: Call) throws {
        let headers = call.request.headers
        let upload = try UploadHeaders(headers)
        isComplete = upload.isComplete ?? true
        contentLength = upload.contentLength
        length = upload.length ?? (isComplete ? contentLength : nil)
        if let offset = upload.offset, offset != 0 {
            throw Problem.invalid(
                HTTPField.Name.uploadOffset.rawName,
                "Must be 0 or absent here. Send the rest of a file by PATCH to its /upload.")
        }
        try upload.checkLength(length, offset: 0)
        declaredType = headers[.contentType].flatMap { $0.utf8.count <= Self.typeByteCountMax ? $0 : nil }
        var query = call.query
        let given = query.given("name") { text throws(Invalid) in text }
        try query.end()
        name =
            (given ?? headers[.contentDisposition].flatMap(ContentDisposition.fileName)).flatMap(FileName.safe)
            ?? FileName.standard(type: declaredType)
    }
}

/// A request that continues an upload.
struct ResumptionRequest {
    let headers: UploadHeaders
    let offset: Int
    let isComplete: Bool

    /// Throws 415 for another Content-Type, 422 for missing and wrong headers.
    init(_ call: Call) throws {
        let headers = call.request.headers
        guard let type = headers[.contentType], ContentTypeHeader.isPartialUpload(type) else {
            throw Problem(
                .unsupportedMediaType, "The Content-Type of a part must be application/partial-upload.")
        }
        let upload = try UploadHeaders(headers)
        guard let offset = upload.offset, let isComplete = upload.isComplete else {
            let missing = [
                upload.offset == nil ? HTTPField.Name.uploadOffset : nil,
                upload.isComplete == nil ? HTTPField.Name.uploadComplete : nil,
            ]
            throw Problem.invalid(missing.compactMap { $0.map { Problem.Field($0.rawName, "Is required.") } })
        }
        self.offset = offset
        self.isComplete = isComplete
        self.headers = upload
    }
}

extension ContentTypeHeader {
    fileprivate static func isPartialUpload(_ type: String) -> Bool {
        var parts = HeaderList(type[...].utf8, separator: ";", countMax: 1)
        return parts.next()?.equals(ignoringCase: "application/partial-upload") ?? false
    }
}

extension UploadRules {
    init(_ limits: Limits) {
        self.init(
            byteCountMax: limits.attachmentByteCountMax, quotaByteCount: limits.attachmentQuotaByteCount,
            unusedCountMax: limits.unusedAttachmentCountMax, unusedHours: limits.unusedAttachmentHours)
    }
}

extension Problem {
    /// 413. The answer also has the limit in Upload-Limit.
    static func attachmentTooLarge(_ limits: Limits) -> Problem {
        Problem(
            .attachmentTooLarge,
            "The file is too large. An attachment may have at most \(limits.attachmentByteCountMax) bytes.")
    }
}
