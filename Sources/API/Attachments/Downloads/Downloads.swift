// Downloads: the bytes of an attachment or of its thumbnail, whole or in part.
import Basics
import Domain
import HTTPTypes
import NIOCore
import Pictures
import Store
import Transport

extension AttachmentCalls {
    var downloadRoutes: [Route] {
        let path = "/v1/attachments/{attachment_id}"
        return [
            Route(
                .get, path, .getAttachment, query: .read, .media { try await download($0, .original) }),
            Route(
                .get, path + "/thumbnail", .getThumbnail, query: .read, .media { try await download($0, .thumbnail) }),
        ]
    }

    private func download(_ call: Call, _ variant: AttachmentVariant) async throws -> Answer {
        let caller = try await mediaCaller(call, variant)
        let id = try call.attachment()
        let file = try await reads.run(for: caller.identity.user) {
            try await store.openAttachment(id, variant: variant, for: caller.reader)
        }
        let tag = EntityTag(digest: file.digest)
        var answer = Answer(status: .ok, headers: file.headers(tag, isForOtherOrigins: attachments.allowsOtherOrigins))
        let asked = call.request.headers
        if let known = asked[.ifNoneMatch], tag.isNamed(in: known) {
            answer.status = .notModified
            return answer
        }
        if call.request.method == .head {
            answer.headers[.contentLength] = String(file.byteCount)
            return answer
        }
        var range = 0..<file.byteCount
        switch RequestedRange(tag.allowsPart(ifRange: asked[.ifRange]) ? asked[.range] : nil, byteCount: file.byteCount)
        {
        case .whole: break
        case .unsatisfiable: return .unsatisfiable(byteCount: file.byteCount)
        case .part(let part):
            range = part
            answer.status = .partialContent
            answer.headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(file.byteCount)"
        }
        if let url = redirect(file) { return .redirect(to: url) }
        try await stream(file, range, to: &answer, for: caller, from: rates.address(of: call))
        return answer
    }

    /// Files whose download counts as received go through the node, which sees the last byte leave.
    private func redirect(_ file: StoredFile) -> String? {
        guard file.isInObjectStore, !file.isTransient else { return nil }
        return attachments.objects?.url(of: file.objectKey, type: file.mediaType, disposition: file.disposition)
    }

    /// Makes the body. Its first piece is read here, so that a file that cannot be read gets a problem as answer.
    private func stream(
        _ file: StoredFile, _ range: Range<Int>, to answer: inout Answer, for caller: MediaCaller,
        from address: IPAddress?
    ) async throws {
        let slot = try await downloads.begin(by: caller.identity.user, from: address, byteCount: range.count)
        var source = FileSource(file, caller.reader, store: store, objects: attachments.objects)
        let first = try await source.read(range)
        let isReceipt = answer.status == .ok && file.isTransient && file.variant == .original
        let (goesOn, metrics) = (authenticator.goesOn, self.metrics)
        answer.stream = StreamedBody(byteCount: range.count) { [source] writer in
            metrics.downloadBegan()
            defer {
                metrics.downloadEnded()
                withExtendedLifetime(slot) {}
            }
            // The client sees that bytes are missing, and asks for them by Range.
            slot.whenDisplaced(writer.aborter)
            var source = source
            try await source.write(range, first: first, to: writer) { sentByteCount in
                metrics.bytesSent.add(sentByteCount)
                slot.add(sentByteCount)
                // A session that ended meanwhile gets no more data.
                guard goesOn(caller.identity.session) else { throw Problem.badToken }
            }
            writer.finish()
            if isReceipt { await received(file.attachment, by: caller.identity) }
        }
    }

    /// The client has its answer, so it is not notified of a failure. It may confirm by itself.
    private func received(_ attachment: AttachmentID, by identity: Identity) async {
        do {
            try await store.receivedAttachment(attachment, by: identity)
        } catch {
            logger.warning(
                "recording a download failed; the message waits for the device", metadata: ["reason": "\(error)"])
        }
    }
}

extension StoredFile {
    var disposition: String {
        ContentDisposition.render(isInline: MediaType(rawValue: mediaType)?.isShownInline ?? false, name: name)
    }

    /// The headers of a download. The transport adds `X-Content-Type-Options` and `Referrer-Policy` to every answer.
    func headers(_ tag: EntityTag, isForOtherOrigins: Bool) -> HTTPFields {
        [
            .contentType: mediaType,
            .contentDisposition: disposition,
            .eTag: tag.text,
            .acceptRanges: "bytes",
            .cacheControl: isTransient ? "no-store" : "private, max-age=31536000, immutable",
            // If a browser shows the file as a page, nothing in it may run or load.
            .contentSecurityPolicy: "sandbox; default-src 'none'",
            .crossOriginResourcePolicy: isForOtherOrigins ? "cross-origin" : "same-origin",
        ]
    }
}

extension Answer {
    fileprivate static func unsatisfiable(byteCount: Int) -> Answer {
        var answer = ProblemDocument.answer(
            Problem(
                .rangeNotSatisfiable, "The file has \(byteCount) bytes. Ask for a range that begins before its end."))
        answer.headers[.contentRange] = "bytes */\(byteCount)"
        return answer
    }

    /// The URL is valid for some minutes, so the redirect must not be kept.
    fileprivate static func redirect(to url: String) -> Answer {
        Answer(status: .temporaryRedirect, headers: [.location: url, .cacheControl: "no-store"])
    }
}

extension HTTPField.Name {
    fileprivate static let crossOriginResourcePolicy = Self("Cross-Origin-Resource-Policy")!
}
