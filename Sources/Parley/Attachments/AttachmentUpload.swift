// One upload, in parts that can be resumed (draft-ietf-httpbis-resumable-upload).
import Foundation

/// Uploads one file under an id of the client's choice.
///
/// `run` may be called again at any time, also by another process: it asks the server how much has arrived, and sends
/// the rest. It does not wait for a server that is down. It throws, and its caller tries again.
public struct AttachmentUpload: Sendable {
    /// The id that the attachment gets. The same id continues an upload that broke off.
    public let id: AttachmentID
    /// Where the bytes come from.
    public let source: UploadSource
    /// The name that others see.
    public let name: String?
    /// A value of nil lets the server decide by the bytes.
    public let contentType: String?

    /// The largest part, and the largest file that is sent by one call.
    static let partByteCountMax = 1 << 20
    /// A run ends after this many answers without a stored byte.
    static let stallCountMax = 4

    /// Waits between two questions whether a file is checked.
    var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// Makes an upload. It begins with `run`.
    public init(id: AttachmentID, source: UploadSource, name: String? = nil, contentType: String? = nil) {
        self.id = id
        self.source = source
        self.name = name
        self.contentType = contentType
    }

    /// Sends what the server lacks, and waits until the file is ready for messages.
    ///
    /// `progress` is called with the part that the server has, 0 to 1. Throws `ParleyError.refused` with
    /// `attachment_refused` if the virus scanner refuses the file, and `fileUnreadable`. A temporary error leaves an
    /// upload that the next run resumes.
    public func run(
        with caller: some Caller, progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws -> Attachment {
        let size = try source.size
        let sent =
            try await size <= Self.partByteCountMax
            ? sendWhole(size, with: caller) : sendParts(size, with: caller, progress)
        let ready = try await ready(sent, with: caller)
        progress(1)
        return ready
    }

    /// The same bytes under the same id are stored once, so the call needs no question before it.
    private func sendWhole(_ size: Int, with caller: some Caller) async throws -> Attachment {
        let bytes = try source.read(size, at: 0)
        do {
            return try await caller.call(.attachments.put(bytes, as: id, name: name, contentType: contentType))
        } catch let error as ParleyError where error.code == .uploadComplete {
            return try await caller.call(.attachments.info(id))
        } catch let error as ParleyError where Self.isAboutOffsets(error) {
            throw ParleyError.noAnswer("the upload broke off: \(error)", cause: error)
        }
    }

    private func sendParts(
        _ size: Int, with caller: some Caller, _ progress: @Sendable (Double) -> Void
    ) async throws -> Attachment {
        var state = try await state(with: caller)
        var stalls = 0
        while stalls < Self.stallCountMax {
            try Task.checkCancellation()
            if state?.isComplete == true { return try await caller.call(.attachments.info(id)) }
            if let upload = state, upload.offset > size || upload.length.map({ $0 != size }) ?? false {
                try await caller.call(.attachments.delete(id))  // The file has changed since.
                state = nil
            }
            let before = state?.offset ?? 0
            progress(Double(before) / Double(size))
            do {
                switch try await sendPart(after: state, size, with: caller) {
                case .complete(let attachment): return attachment
                case .stored(let next): state = next
                }
            } catch let error as ParleyError where Self.isAboutOffsets(error) {
                state = try await self.state(with: caller)
            } catch let error as ParleyError where error.code == .attachmentNotFound {
                state = nil  // The upload was given up after 24 hours. It begins again.
            }
            stalls = (state?.offset ?? 0) > before ? 0 : stalls + 1
        }
        throw ParleyError.noAnswer("the upload does not move forward")
    }

    /// Sends the next part, or begins the upload.
    private func sendPart(after state: UploadState?, _ size: Int, with caller: some Caller) async throws -> UploadAnswer
    {
        let offset = state?.offset ?? 0
        let count = min(Self.partByteCountMax, size - offset)
        let bytes = try source.read(count, at: offset)
        let isLast = offset + count == size
        if state != nil {
            return try await caller.call(
                .attachments.append(bytes, to: id, at: offset, isComplete: isLast, length: size))
        }
        return .stored(
            try await caller.call(
                .attachments.begin(bytes, as: id, name: name, contentType: contentType, length: size)))
    }

    /// How far the upload is; nil if it has not begun.
    private func state(with caller: some Caller) async throws -> UploadState? {
        do {
            return try await caller.call(.attachments.uploadState(id))
        } catch let error as ParleyError where error.problem?.status == 404 {  // HEAD has no body with a code.
            return nil
        }
    }

    /// Waits until the server has checked the file.
    private func ready(_ attachment: Attachment, with caller: some Caller) async throws -> Attachment {
        var attachment = attachment
        var wait = Duration.milliseconds(500)
        // The server's check takes seconds. One that takes minutes, for example without its scanner, is asked for in a
        // later run.
        for _ in 0..<20 {
            switch attachment.state {
            case .checking?, .receiving?: break
            case .refused?: throw ParleyError.refused(.attachmentRefused)
            default: return attachment
            }
            try await pause(wait)
            wait = min(wait * 2, .seconds(5))
            attachment = try await caller.call(.attachments.info(id))
        }
        throw ParleyError.noAnswer("the server is still checking the file")
    }

    /// The server has another number of bytes than this run believed, or has stored a part of a part.
    private static func isAboutOffsets(_ error: ParleyError) -> Bool {
        switch error.code {
        case .uploadOffsetMismatch?, .uploadComplete?, .uploadSuperseded?, .malformedRequest?: true
        default: false
        }
    }
}

extension Problem {
    /// As the server answers when a message has a refused file.
    static let attachmentRefused = Problem(
        status: 409, code: .attachmentRefused, title: "Attachment refused",
        detail: "The server's virus scanner refused the file.", errors: [], retryAfter: nil, requestID: nil,
        document: .object([:]))
}
