// The work on one complete upload: digest, type, metadata, virus scan, thumbnail.
import API
import Basics
import Cryptography
import Domain
import Logging
import Pictures
import Store
import Telemetry
import Thumbnailing

/// Checks a claimed attachment and records the outcome. Memory is bounded whatever the size: a few chunks, or twice
/// `AttachmentBytes.heldByteCountMax`.
///
/// Passes over the bytes, each a read from the database only if they are too many for memory: one for digest, type and
/// headers; one for a picture with metadata; one for the virus scanner; one for the thumbnail.
struct AttachmentProcessor: Sendable {
    /// The length of a claim. Another node checks the attachment of a dead node after this time.
    static let leaseSeconds = 30
    private static let leaseExtension = Duration.seconds(10)
    /// After this number of checks in a row whose nodes died, a file counts as the reason. A fault in a parser must not
    /// end one node after the other.
    private static let attemptMax = 5
    /// The pause between a failed check and the next one.
    static let retrySeconds = 30
    /// The type of files that the service does not recognise.
    private static let unknownType = "application/octet-stream"

    let store: Store
    let scanner: AttachmentScanner?
    let thumbnailer: Thumbnailer
    /// Has the processor time that an account may use for thumbnails.
    let rates: RateLimits
    let metrics: AttachmentMetrics
    private let logger: Logger
    private let log: RateLimitedLog

    init(
        store: Store, scanner: AttachmentScanner?, thumbnailer: Thumbnailer, rates: RateLimits,
        metrics: AttachmentMetrics, logger: Logger
    ) {
        (self.store, self.scanner, self.thumbnailer, self.rates) = (store, scanner, thumbnailer, rates)
        (self.metrics, self.logger) = (metrics, logger)
        log = RateLimitedLog(logger)
    }

    /// Checks the attachment and extends the claim while it does. Frees the slot before it draws the thumbnail, which
    /// has a line of its own: a file without one does not wait for pictures.
    /// - Throws: any error of the database. A node tries again after `retrySeconds`.
    func process(_ job: AttachmentJob, in slot: HeldSlot) async throws {
        defer { slot.leave() }
        metrics.begin()
        let began = ContinuousClock.now
        defer {
            metrics.end()
            metrics.took.record(.now - began)
        }
        let outcome: AttachmentMetrics.Outcome
        do {
            outcome = try await withThrowingTaskGroup(of: AttachmentMetrics.Outcome.self) { group in
                group.addTask { try await check(job, in: slot) }
                group.addTask { try await extendClaim(job) }
                defer { group.cancelAll() }
                for try await outcome in group { return outcome }
                throw CancellationError()
            }
        } catch let problem as Problem where [.uploadSuperseded, .attachmentNotFound].contains(problem.code) {
            // Another node has it, or its owner or the sweep has deleted it.
            outcome = .abandoned
        } catch {
            if !Task.isCancelled { await postpone(job) }
            throw error
        }
        metrics.checked.add(outcome)
    }

    /// Ends the claim after a failure. Otherwise it would end as if this node had died.
    private func postpone(_ job: AttachmentJob) async {
        do {
            try await store.postponeAttachment(job, seconds: Self.retrySeconds)
        } catch {
            // The caller logs the first failure, which is mostly the same.
            logger.debug("postponing a check failed", metadata: ["reason": "\(error)"])
        }
    }

    /// Never returns. Throws when the claim has ended.
    private func extendClaim(_ job: AttachmentJob) async throws -> Never {
        while true {
            try await Task.sleep(for: Self.leaseExtension)
            try await store.extendClaim(job, leaseSeconds: Self.leaseSeconds, uploadedDigest: nil)
        }
    }

    private func check(_ job: AttachmentJob, in slot: HeldSlot) async throws -> AttachmentMetrics.Outcome {
        guard job.attempt <= Self.attemptMax else {
            return try await refuse(job, "\(Self.attemptMax) nodes ended while they checked it")
        }
        do {
            switch try await examine(job) {
            case .ended(let outcome): return outcome
            case .file(var result, let picture):
                if var picture {
                    slot.leave()
                    guard try await draw(&picture, job, into: &result) else { return .postponed }
                }
                try await store.finishAttachment(job, result)
                return .ready
            }
        } catch let missing as AttachmentBytes.MissingChunk {
            // Deletion is the usual reason. Then this throws that the claim has ended.
            try await store.extendClaim(job, leaseSeconds: Self.leaseSeconds, uploadedDigest: nil)
            throw missing
        }
    }

    private enum Examination {
        case ended(AttachmentMetrics.Outcome)
        case file(CheckedAttachment, Picture?)
    }

    /// A picture that may get a thumbnail.
    private struct Picture {
        var bytes: AttachmentBytes
        let header: PictureHeader
    }

    /// Does everything but the thumbnail.
    private func examine(_ job: AttachmentJob) async throws -> Examination {
        if job.isHashed, try await waitsForScanner(job) { return .ended(.postponed) }
        let upload = try await inspect(job)
        // Now a repeated PUT can be compared with this upload.
        try await store.extendClaim(job, leaseSeconds: Self.leaseSeconds, uploadedDigest: upload.digest)
        if try await waitsForScanner(job) { return .ended(.postponed) }
        let served = try await clean(upload, job)
        switch try await scanner?.scan(served.bytes) {
        case nil, .accepted: break
        case .refused(let reason): return .ended(try await refuse(job, reason))
        case .postponed(let seconds):
            try await store.postponeAttachment(job, seconds: seconds)
            return .ended(.postponed)
        }
        var result = CheckedAttachment(uploadedDigest: upload.digest, served: served.stored)
        result.usesCleaned = served.bytes.variant == .cleaned
        guard let header = upload.picture?.header, header.isDrawable else { return .file(result, nil) }
        return .file(result, Picture(bytes: served.bytes, header: header))
    }

    /// Postpones the check while the virus scanner is down. Otherwise all waiting files would be read again and again.
    private func waitsForScanner(_ job: AttachmentJob) async throws -> Bool {
        guard let seconds = scanner?.pauseSeconds else { return false }
        try await store.postponeAttachment(job, seconds: seconds)
        return true
    }

    private func refuse(_ job: AttachmentJob, _ reason: String) async throws -> AttachmentMetrics.Outcome {
        try await store.refuseAttachment(job, reason: reason)
        logger.warning(
            "an attachment is refused",
            metadata: ["attachment": "\(job.attachment)", "reason": "\(reason)"])
        return .refused
    }
}

// Pictures.

extension AttachmentProcessor {
    /// An upload after the first pass.
    private struct Upload {
        var bytes: AttachmentBytes
        var digest: [UInt8]
        var mediaType: MediaType?
        /// It is nil if the file is no picture that can be read: it is kept as it is.
        var picture: ScannedPicture?

        /// It is nil for a picture that cannot be read: it has all its metadata, and browsers should not show it.
        var servedType: MediaType? { picture == nil && mediaType?.isDrawn == true ? nil : mediaType }
    }

    private func inspect(_ job: AttachmentJob) async throws -> Upload {
        var bytes = AttachmentBytes(
            store: store, attachment: job.attachment, variant: .original, byteCount: job.byteCount)
        var held: [[UInt8]]? = job.byteCount <= AttachmentBytes.heldByteCountMax ? [] : nil
        var digest = SHA256()
        var type: MediaType?
        var scanner: PictureScanner?
        var isFirst = true
        for try await chunk in bytes {
            digest.update(chunk)
            held?.append(chunk)
            if isFirst {
                type = MediaType.sniff(chunk)
                scanner = type.flatMap { PictureScanner($0) }
                isFirst = false
            }
            do throws(UnreadablePicture) {
                try scanner?.scan(chunk)
            } catch {
                metrics.unreadable.add()
                scanner = nil
            }
        }
        var picture: ScannedPicture?
        do throws(UnreadablePicture) {
            picture = try scanner?.finish()
        } catch {
            metrics.unreadable.add()
        }
        bytes.held = held
        return Upload(bytes: bytes, digest: digest.finalize(), mediaType: type, picture: picture)
    }

    /// Writes the variant without metadata, if the upload is a picture that has some. Returns the variant to serve.
    private func clean(
        _ upload: Upload, _ job: AttachmentJob
    ) async throws -> (stored: StoredVariant, bytes: AttachmentBytes) {
        let type = upload.servedType?.rawValue ?? Self.unknownType
        guard let picture = upload.picture, !picture.isClean else {
            return (StoredVariant(mediaType: type, byteCount: job.byteCount, digest: upload.digest), upload.bytes)
        }
        var cleaner = PictureCleaner(picture)
        var writer = VariantWriter(.cleaned, of: job, byteCount: picture.cleanByteCount, store: store)
        for try await chunk in upload.bytes {
            try cleaner.clean(chunk, into: &writer.pending)
            try await writer.writeFullChunks()
        }
        try cleaner.finish()
        return try await writer.finish(mediaType: type)
    }

    /// Draws the thumbnail. Without one the attachment becomes ready all the same. Returns false if the check is
    /// postponed, because too many pictures of all accounts wait.
    private func draw(
        _ picture: inout Picture, _ job: AttachmentJob, into result: inout CheckedAttachment
    ) async throws -> Bool {
        let drawing: Drawing?
        do {
            drawing = try await draw(&picture, job)
        } catch SlotRefusal.full {
            try await store.postponeAttachment(job, seconds: Self.retrySeconds)
            return false
        } catch SlotRefusal.flowFull {
            drawing = nil
        }
        metrics.thumbnails.add(drawing.map { AttachmentMetrics.ThumbnailOutcome($0) } ?? .limited)
        switch drawing {
        case .drawn(let thumbnail):
            var writer = VariantWriter(.thumbnail, of: job, byteCount: thumbnail.bytes.count, store: store)
            writer.pending = thumbnail.bytes
            result.thumbnail = try await writer.finish(mediaType: thumbnail.format.mediaType).stored
            result.thumbhash = thumbnail.thumbhash
        case .unreadable, .tooLarge:
            // A file like any other, without width and height.
            return true
        case nil, .missing: break
        case .timedOut: failed("it took too long")
        case .killed(let signal): failed("signal \(signal) ended it")
        case .failed(let reason): failed(reason)
        }
        (result.width, result.height) = (picture.header.width, picture.header.height)
        return true

        func failed(_ reason: String) {
            log.warning("drawing a thumbnail failed; the attachment is ready without one", reason: reason)
        }
    }

    /// Waits for the owner's turn, draws, and charges the owner for the processor time. Returns nil if the owner has
    /// none left.
    private func draw(_ picture: inout Picture, _ job: AttachmentJob) async throws -> Drawing? {
        let owner = "\(job.owner)"
        guard rates.allows(.thumbnailsOfAccount, to: job.owner) else { return nil }
        var slot = thumbnailer.holdIfFree(for: owner)
        if slot == nil {
            // Many may wait, so none keeps its bytes in memory. They are read again.
            picture.bytes.held = nil
            slot = try await thumbnailer.hold(for: owner)
            // The owner's pictures before this one were charged meanwhile.
            guard rates.allows(.thumbnailsOfAccount, to: job.owner) else { return nil }
        }
        guard let slot else { return nil }
        let bytes = picture.bytes
        let (drawing, time) = try await thumbnailer.draw(in: slot) { try await bytes.chunk($0) }
        rates.charge(.thumbnailsOfAccount, to: job.owner, cost: Int(time / .milliseconds(1)))
        return drawing
    }
}
