// Refusals of uploads that tell the client where the upload stands.
import Domain
import HTTPTypes
import Transport

/// A refusal with upload headers.
enum UploadRefusal: Error {
    /// The body ended early: the connection broke, the client was too slow, or this node is stopping. All bytes that
    /// arrived are stored, up to the offset. Nil for an upload that was complete before.
    case interrupted(RequestBodyError?, offset: Int?)
    /// The client must continue from this offset.
    case mismatch(Int)
    /// All bytes arrived earlier.
    case complete(Int?)

    fileprivate var problem: Problem {
        switch self {
        case .interrupted(let reason, _): Self.problem(reason)
        case .mismatch(let offset):
            Problem(
                .uploadOffsetMismatch,
                "The upload has \(offset) bytes. Send the rest from there, with Upload-Offset: \(offset).")
        case .complete:
            Problem(.uploadComplete, "The upload is complete already. Ask for its state with GET …/info.")
        }
    }

    private static func problem(_ reason: RequestBodyError?) -> Problem {
        switch reason {
        case .tooSlow:
            Problem(
                .requestTimeout, "The body arrived too slowly. Send the rest from Upload-Offset, by PATCH to …/upload.")
        case .clientGone, .malformed, .answered:
            Problem(
                .malformedRequest,
                "The body broke off or is not valid. Send the rest from Upload-Offset, by PATCH to …/upload.")
        case .displaced:
            Problem(
                .overloaded,
                "This node has too many uploads, and others have fewer of them. Retry after the seconds in Retry-After: "
                    + "send the rest from Upload-Offset, by PATCH to …/upload.",
                retryAfterS: 2)
        // A task is cancelled when its client is gone or the node's time to stop is over.
        case .stopping, .tooLarge, nil:
            Problem(
                .unavailable,
                "This node is stopping. Retry after the seconds in Retry-After: send the rest from Upload-Offset, by "
                    + "PATCH to …/upload.",
                retryAfterS: 1)
        }
    }
}

extension AttachmentCalls {
    /// Runs an upload and counts it. Renders refusals with the headers that clients of resumable uploads read.
    func answeringUploads(_ body: () async throws -> Answer) async throws -> Answer {
        var outcome = TransferMetrics.UploadOutcome.failed
        metrics.uploadBegan()
        defer { metrics.uploadEnded(outcome) }
        do {
            let answer = try await body()
            outcome = answer.headers[.uploadComplete] == "?0" ? .partial : .complete
            return answer
        } catch let refusal as UploadRefusal {
            outcome = if case .interrupted = refusal { .interrupted } else { .refused }
            return refusal.answer
        } catch let problem as Problem {
            outcome = TransferMetrics.UploadOutcome(problem)
            if problem.code == .attachmentTooLarge { return .attachmentTooLarge(limits) }
            throw problem
        } catch let invalid as Invalid {
            outcome = .refused
            throw invalid
        }
    }
}

extension UploadRefusal {
    fileprivate var answer: Answer {
        var answer = ProblemDocument.answer(problem)
        switch self {
        case .interrupted(_, offset: nil): break
        case .interrupted(_, let offset?), .mismatch(let offset):
            answer.headers.setUpload(offset: offset, isComplete: false)
        case .complete(let byteCount):
            if let byteCount { answer.headers[.uploadOffset] = String(byteCount) }
            answer.headers[.uploadComplete] = "?1"
        }
        return answer
    }
}

extension TransferMetrics.UploadOutcome {
    fileprivate init(_ problem: Problem) {
        self =
            switch problem.code {
            case .uploadSuperseded: .superseded
            case .internalError, .unavailable: .failed
            default: .refused
            }
    }
}

extension Answer {
    static func attachmentTooLarge(_ limits: Limits) -> Answer {
        var answer = ProblemDocument.answer(.attachmentTooLarge(limits))
        answer.headers.setUploadLimit(limits)
        return answer
    }
}

extension Call {
    /// Sends the interim answer that tells a client of a resumable upload where to resume, if the settings and the
    /// client's version of the draft permit it. Proxies that do not know the draft break on it (docs/attachments.md).
    func announceUpload(_ id: AttachmentID, _ services: AttachmentServices, _ limits: Limits) {
        guard services.sendsInterimAnswers, let version = request.headers[.uploadDraftInteropVersion],
            ["6", "7", "8"].contains(version)
        else { return }
        var headers: HTTPFields = [
            .location: "/v1/attachments/\(id)/upload", .uploadDraftInteropVersion: version,
        ]
        headers.setUploadLimit(limits)
        inform(.init(code: 104, reasonPhrase: "Upload Resumption Supported"), headers: headers)
    }
}
