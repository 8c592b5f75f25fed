// Files: their description, links, and the calls that move bytes. `AttachmentUpload` and `AttachmentDownload` make the
// latter in their order.
import Foundation

extension Call {
    /// Files.
    public static var attachments: AttachmentCalls { AttachmentCalls() }
}

/// Which bytes of an attachment.
@nonexhaustive
public enum AttachmentVariant: String, Sendable {
    /// The file as it was uploaded, without the metadata of pictures.
    case original
    /// A picture of at most 640 pixels a side.
    case thumbnail
}

/// `Call.attachments`.
public struct AttachmentCalls: Sendable {
    /// The description of a file. `GET /v1/attachments/{attachment_id}/info`
    public func info(_ id: AttachmentID) -> Call<Attachment> { Call("GET", "v1", "attachments", id.rawValue, "info") }

    /// A link that works without a token for this time, at most a day. Whole seconds count.
    /// `POST /v1/attachments/{attachment_id}/link`
    public func link(
        _ id: AttachmentID, variant: AttachmentVariant = .original, validFor time: Duration = .seconds(3600)
    ) -> Call<AttachmentLink> {
        let body: JSONValue = ["variant": .string(variant.rawValue), "seconds": .integer(time.components.seconds)]
        return Call("POST", "v1", "attachments", id.rawValue, "link", body: body)
    }

    /// Confirms that this device has the whole file, after getting it in parts.
    /// `POST /v1/attachments/{attachment_id}/received`
    public func received(_ id: AttachmentID) -> Call<Void> {
        Call("POST", "v1", "attachments", id.rawValue, "received")
    }

    /// Gives up an upload, or a file that nothing uses. `DELETE /v1/attachments/{attachment_id}`
    public func delete(_ id: AttachmentID) -> Call<Void> { Call("DELETE", "v1", "attachments", id.rawValue) }

    /// Uploads a thumbnail of one's own, at most 256 KiB of JPEG, PNG or WebP, before the attachment is sent.
    /// `PUT /v1/attachments/{attachment_id}/thumbnail`
    public func setThumbnail(_ picture: Data, of id: AttachmentID) -> Call<Attachment> {
        var call = Call<Attachment>("PUT", "v1", "attachments", id.rawValue, "thumbnail")
        call.send(picture, as: "application/octet-stream")
        return call
    }
}

// MARK: Uploads

/// How many bytes of an upload the server has.
public struct UploadState: Sendable, Hashable {
    /// The number of bytes that the server has.
    public var offset: Int
    /// All bytes have arrived.
    public var isComplete: Bool
    /// The size of the whole file, if the client has said it.
    public var length: Int?
}

/// The answer to a part of a file.
@nonexhaustive
public enum UploadAnswer: Sendable, Hashable {
    /// More may follow.
    case stored(UploadState)
    /// The upload is complete.
    case complete(Attachment)
}

extension AttachmentCalls {
    /// Uploads a file under an id of the client's choice. The same bytes under the same id are stored once.
    /// `PUT /v1/attachments/{attachment_id}`
    public func put(
        _ bytes: Data, as id: AttachmentID, name: String?, contentType: String? = nil
    ) -> Call<Attachment> {
        var call = Call<Attachment>("PUT", "v1", "attachments", id.rawValue, query: [("name", name)])
        call.send(bytes, as: contentType)
        return call
    }

    /// Begins an upload with the first part of a file, or with no bytes. `length` is the size of the whole file.
    /// `PUT /v1/attachments/{attachment_id}`
    public func begin(
        _ bytes: Data, as id: AttachmentID, name: String?, contentType: String? = nil, length: Int? = nil
    ) -> Call<UploadState> {
        var call = Call<UploadState>("PUT", "v1", "attachments", id.rawValue, query: [("name", name)]) {
            try UploadState($0)
        }
        call.send(bytes, as: contentType, isComplete: false, length: length)
        return call
    }

    /// Uploads a file under an id of the server's choice. Prefer `put`, which can be repeated. `POST /v1/attachments`
    public func create(_ bytes: Data, name: String?, contentType: String? = nil) -> Call<Attachment> {
        var call = Call<Attachment>("POST", "v1", "attachments", query: [("name", name)])
        call.send(bytes, as: contentType)
        return call
    }

    /// How many bytes of an upload have arrived. `HEAD /v1/attachments/{attachment_id}/upload`
    public func uploadState(_ id: AttachmentID) -> Call<UploadState> {
        Call("HEAD", "v1", "attachments", id.rawValue, "upload") { try UploadState($0) }
    }

    /// Sends the rest of an upload, or a part of it. `PATCH /v1/attachments/{attachment_id}/upload`
    public func append(
        _ bytes: Data, to id: AttachmentID, at offset: Int, isComplete: Bool, length: Int? = nil
    ) -> Call<UploadAnswer> {
        var call = Call<UploadAnswer>("PATCH", "v1", "attachments", id.rawValue, "upload") { answer in
            answer.status == 204
                ? .stored(try UploadState(answer)) : .complete(try answer.decode(Attachment.self))
        }
        call.send(bytes, as: "application/partial-upload", isComplete: isComplete, length: length)
        call.headers["upload-offset"] = String(offset)
        return call
    }
}

extension UploadState {
    init(_ answer: HTTPResponse) throws {
        guard let offset = answer["upload-offset"].flatMap({ Int($0) }) else {
            throw ParleyError.unreadableAnswer("an upload without an offset")
        }
        self.offset = offset
        isComplete = answer["upload-complete"] == "?1"
        length = answer["upload-length"].flatMap { Int($0) }
    }
}

extension Call {
    fileprivate mutating func send(_ bytes: Data, as type: String?, isComplete: Bool? = nil, length: Int? = nil) {
        body = bytes
        headers["content-type"] = type ?? "application/octet-stream"
        headers["upload-complete"] = isComplete.map { $0 ? "?1" : "?0" }
        headers["upload-length"] = length.map { String($0) }
        // The server needs some seconds to check a file. A part arrives at 8 KiB/s or more, or the server ends it.
        timeout = .seconds(60 + bytes.count / 8192)
    }
}

// MARK: Downloads

/// Bytes of a file.
public struct FilePart: Sendable, Hashable {
    /// The bytes of the part.
    public var bytes: Data
    /// The position of the first byte.
    public var offset: Int
    /// The size of the whole file.
    public var size: Int
    /// Names these bytes. Equal tags mean equal files.
    public var tag: String?
    /// The type of the whole file.
    public var contentType: String?
}

/// The answer to a request for a file.
@nonexhaustive
public enum FileAnswer: Sendable, Hashable {
    /// The bytes that were asked for.
    case part(FilePart)
    /// The file is in an object store, at this address, for five minutes.
    case elsewhere(URL)
}

extension AttachmentCalls {
    /// A file, or some bytes of it. With the tag of earlier bytes, the answer is the whole file if it is another one.
    /// `GET /v1/attachments/{attachment_id}`, `GET /v1/attachments/{attachment_id}/thumbnail`
    public func file(
        _ id: AttachmentID, variant: AttachmentVariant = .original, bytes: Range<Int>? = nil, tag: String? = nil
    ) -> Call<FileAnswer> {
        var call = Call<FileAnswer>("GET", "v1", "attachments", id.rawValue) { answer in
            guard answer.status == 307 else { return .part(try FilePart(answer)) }
            guard let address = answer["location"].flatMap({ URL(string: $0) }) else {
                throw ParleyError.unreadableAnswer("a redirect without an address")
            }
            return .elsewhere(address)
        }
        if variant == .thumbnail { call.path.append("thumbnail") }
        call.accepted = 200..<308
        call.ask(for: bytes, tag)
        return call
    }

    /// The bytes of a file from the address in `FileAnswer.elsewhere`.
    func file(at address: URL, bytes: Range<Int>? = nil, tag: String? = nil) -> Call<FilePart> {
        var call = Call<FilePart>("GET") { try FilePart($0) }
        call.elsewhere = address
        call.ask(for: bytes, tag)
        return call
    }
}

extension Call {
    fileprivate mutating func ask(for bytes: Range<Int>?, _ tag: String?) {
        if let bytes { headers["range"] = "bytes=\(bytes.lowerBound)-\(bytes.upperBound - 1)" }
        if let tag { headers["if-range"] = tag }
        timeout = .seconds(60)
    }
}

extension FilePart {
    init(_ answer: HTTPResponse) throws {
        bytes = answer.body
        tag = answer["etag"]
        contentType = answer["content-type"]
        guard answer.status == 206 else {
            offset = 0
            size = answer.body.count
            return
        }
        // bytes 0-65535/104857600
        let numbers = answer["content-range"]?.split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) } ?? []
        guard numbers.count == 3, numbers[1] - numbers[0] + 1 == answer.body.count, numbers[1] < numbers[2] else {
            throw ParleyError.unreadableAnswer("bytes that are not those of Content-Range")
        }
        offset = numbers[0]
        size = numbers[2]
    }
}
