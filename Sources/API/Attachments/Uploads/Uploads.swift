// Uploads: by one request, or resumable by the headers of draft-ietf-httpbis-resumable-upload.
import Cryptography
import Domain
import HTTPTypes
import NIOCore
import Store
import Transport

extension AttachmentCalls {
    var uploadRoutes: [Route] {
        let upload = "/v1/attachments/{attachment_id}/upload"
        return [
            Route(
                .put, "/v1/attachments/{attachment_id}", .putAttachment, query: .read, body: .upload,
                .signedIn(putAttachment)),
            Route(
                .post, "/v1/attachments", .createAttachment, query: .read, body: .upload, .signedIn(createAttachment)),
            Route(.head, upload, .getUpload, body: .unneeded, .signedIn(getUpload)),
            Route(.patch, upload, .appendUpload, body: .upload, .signedIn(appendUpload)),
        ]
    }

    private func putAttachment(_ call: Call, _ identity: Identity) async throws -> Answer {
        try await answeringUploads {
            try await begin(call.attachment(), call, identity)
        }
    }

    private func createAttachment(_ call: Call, _ identity: Identity) async throws -> Answer {
        try await answeringUploads {
            try await begin(.make(), call, identity)
        }
    }

    private func begin(_ id: AttachmentID, _ call: Call, _ identity: Identity) async throws -> Answer {
        let request = try UploadRequest(call)
        if let length = request.length, length > limits.attachmentByteCountMax {
            throw Problem.attachmentTooLarge(limits)
        }
        let slot = try await slot(for: call, request.contentLength, identity)
        defer { withExtendedLifetime(slot) {} }
        switch try await begin(id, request, identity) {
        case .receiving(let claim):
            call.announceUpload(id, attachments, limits)
            let end = try await receive(call, claim, contentLength: request.contentLength, isFirst: true, slot)
            guard request.isComplete else {
                var answer = try await attachment(id, identity, status: .created)
                answer.headers[.location] = "/v1/attachments/\(id)/upload"
                answer.headers.setUpload(offset: end.offset, isComplete: false, length: end.length)
                answer.headers.setUploadLimit(limits)
                return answer
            }
            return try await complete(end, identity)
        case .complete(let byteCount, let digest):
            guard request.isComplete else { throw UploadRefusal.complete(byteCount) }
            return try await compare(id, call, request, identity, byteCount: byteCount, digest: digest)
        }
    }

    private func slot(for call: Call, _ byteCount: Int?, _ identity: Identity) async throws -> TransferSlot {
        let slot = try await uploads.begin(by: identity.user, from: rates.address(of: call), byteCount: byteCount)
        let body = call.request.pieces
        slot.whenDisplaced { body.displace() }
        return slot
    }

    private func begin(_ id: AttachmentID, _ request: UploadRequest, _ identity: Identity) async throws -> UploadStart {
        try await store.beginUpload(
            id, owner: identity.user, name: request.name, declaredType: request.declaredType, length: request.length,
            rules: UploadRules(limits))
    }

    private func getUpload(_ call: Call, _ identity: Identity) async throws -> Answer {
        let progress = try await store.uploadProgress(call.attachment(), owner: identity.user)
        var answer = Answer.noContent
        answer.headers.setUpload(offset: progress.offset, isComplete: progress.isComplete, length: progress.length)
        answer.headers.setUploadLimit(limits)
        answer.headers[.cacheControl] = "no-store"
        return answer
    }

    private func appendUpload(_ call: Call, _ identity: Identity) async throws -> Answer {
        try await answeringUploads {
            let request = try ResumptionRequest(call)
            let slot = try await slot(for: call, request.headers.contentLength, identity)
            defer { withExtendedLifetime(slot) {} }
            let resumption = try await store.resumeUpload(
                call.attachment(), owner: identity.user, offset: request.offset, length: request.headers.length,
                rules: UploadRules(limits))
            switch resumption {
            case .complete: throw UploadRefusal.complete(nil)
            case .offsetMismatch(let offset): throw UploadRefusal.mismatch(offset)
            case .receiving(let claim):
                try request.headers.checkLength(claim.length, offset: claim.offset)
                let end = try await receive(
                    call, claim, contentLength: request.headers.contentLength, isFirst: false, slot)
                if request.isComplete { return try await complete(end, identity) }
                var answer = Answer.noContent
                answer.headers.setUpload(offset: end.offset, isComplete: false, length: end.length)
                return answer
            }
        }
    }

    // MARK: The body

    /// Stores the body. If it breaks off, stores what has arrived and throws. Nothing stays of a body that is refused: it
    /// is larger than the quota, the largest file or the declared length permit.
    /// - Parameter isFirst: whether this request began the upload.
    private func receive(
        _ call: Call, _ claim: UploadClaim, contentLength: Int?, isFirst: Bool, _ slot: TransferSlot
    ) async throws -> UploadClaim {
        var writer = UploadWriter(store, claim, limits: limits, metrics: metrics)
        do {
            try writer.checkLength(contentLength)
            try await write(call.request.pieces, to: &writer, slot)
        } catch let problem as Problem where [.quotaExceeded, .attachmentTooLarge, .invalid].contains(problem.code) {
            try await writer.undo(to: isFirst ? nil : claim.offset)
            throw problem
        }
        return writer.claim
    }

    private func write(_ body: RequestBody, to writer: inout UploadWriter, _ slot: TransferSlot) async throws {
        var body = body.makeAsyncIterator()
        while true {
            let bytes: ByteBuffer?
            do {
                bytes = try await body.next()
            } catch RequestBodyError.tooLarge {
                throw Problem.attachmentTooLarge(limits)
            } catch {
                try await writer.finish()
                throw UploadRefusal.interrupted(error as? RequestBodyError, offset: writer.claim.offset)
            }
            guard let bytes else { break }
            slot.add(bytes.readableBytes)
            try await writer.write(bytes)
        }
        try await writer.finish()
    }

    /// Marks an upload as complete and checks the file.
    private func complete(_ claim: UploadClaim, _ identity: Identity) async throws -> Answer {
        let rules = UploadRules(limits)
        try await uncancelled { [store] in try await store.finishUpload(claim, rules: rules) }
        await attachments.check(claim.attachment, identity.user)
        var answer = try await attachment(claim.attachment, identity, status: .created)
        answer.headers[.location] = "/v1/attachments/\(claim.attachment)"
        answer.headers.setUpload(offset: claim.offset, isComplete: true)
        return answer
    }

    /// Answers a repeated upload: 200 for the same bytes, 409 for others. Stores nothing.
    private func compare(
        _ id: AttachmentID, _ call: Call, _ request: UploadRequest, _ identity: Identity, byteCount: Int,
        digest: [UInt8]?
    ) async throws -> Answer {
        if let length = request.length, length != byteCount { throw Problem.otherBytes }
        let given = try await hash(call.request.pieces, byteCount: byteCount)
        guard let known = try await uploadedDigest(digest, id, request, identity) else {
            throw Problem(
                .unavailable, "The first upload of this file is still being checked. Retry in a moment.", retryAfterS: 2
            )
        }
        guard known == given else { throw Problem.otherBytes }
        return try await attachment(id, identity, status: .ok)
    }

    /// Returns the digest of a body of exactly this many bytes. Throws 409 for others.
    private func hash(_ body: RequestBody, byteCount: Int) async throws -> [UInt8] {
        var hash = SHA256()
        var received = 0
        do {
            for try await bytes in body {
                received += bytes.readableBytes
                guard received <= byteCount else { throw Problem.otherBytes }
                bytes.withUnsafeReadableBytes { hash.update($0) }
            }
        } catch let error as RequestBodyError {
            throw UploadRefusal.interrupted(error, offset: nil)
        }
        guard received == byteCount else { throw Problem.otherBytes }
        return hash.finalize()
    }

    /// The digest of the first upload. A node that has all bytes computes it within some seconds.
    private func uploadedDigest(
        _ digest: [UInt8]?, _ id: AttachmentID, _ request: UploadRequest, _ identity: Identity
    ) async throws -> [UInt8]? {
        if let digest { return digest }
        await attachments.check(id, identity.user)
        guard case .complete(_, let later) = try await begin(id, request, identity) else { return nil }
        return later
    }

    private func attachment(
        _ id: AttachmentID, _ identity: Identity, status: HTTPResponse.Status
    ) async throws -> Answer {
        .json(try await store.attachment(id, for: identity.user), status: status)
    }
}

extension Problem {
    fileprivate static let otherBytes = Problem(
        .idTaken, "An attachment with this id has other bytes. Choose another id for another file.")
}
