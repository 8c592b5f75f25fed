// The answers of /v1/sync as JSON: events, refusals, and the expiry of a cursor.
import Domain
import HTTPTypes
import Log
import NIOCore
import Transport

enum SyncAnswers {
    static func response(to answer: PollAnswer, preferredWaitS: Int?) -> OutboundResponse {
        switch answer {
        case .events(let events, let upTo, let more):
            response(body(events, upTo, more), preferredWaitS)
        case .closing(let upTo):
            response(body([], upTo, false), preferredWaitS, closes: true)
        case .displaced(let upTo):
            response(body([], upTo, false), preferredWaitS)
        case .revoked:
            refusal(.badToken)
        }
    }

    private static func response(
        _ body: ByteBuffer, _ preferredWaitS: Int?, closes: Bool = false
    ) -> OutboundResponse {
        var headers = Headers.json
        if let preferredWaitS { headers[.preferenceApplied] = "wait=\(preferredWaitS)" }
        return OutboundResponse(
            status: .ok, headers: headers, body: body, closesConnection: closes, operation: OperationID.sync.rawValue)
    }

    private static func body(_ events: [Event], _ upTo: Cursor, _ more: Bool) -> ByteBuffer {
        let byteCount = events.reduce(96) { $0 + $1.body.count + 1 }
        var buffer = ByteBufferAllocator().buffer(capacity: byteCount)
        buffer.writeStaticString("{\"events\":[")
        for (index, event) in events.enumerated() {
            if index > 0 { buffer.writeInteger(UInt8(ascii: ",")) }
            buffer.writeBytes(event.body)
        }
        buffer.writeString("],\"cursor\":\"\(upTo)\",\"more\":\(more)}")
        return buffer
    }

    static func refusal(_ problem: Problem, extra: [(String, JSONText)] = []) -> OutboundResponse {
        var response = ProblemDocument.answer(problem, extra: extra).outbound
        response.operation = OperationID.sync.rawValue
        return response
    }
}

extension SyncServices {
    /// The answer to an error. Internal errors are logged.
    func failure(_ error: any Error, _ number: RequestNumber) -> OutboundResponse {
        var response = Failure(error).answer(requestID: number.text, logger: logger).outbound
        response.operation = OperationID.sync.rawValue
        return response
    }

    /// 410 with a new cursor and the threads to reload.
    func expiry(of cursor: Cursor, _ identity: Identity) async throws -> OutboundResponse {
        let fresh = try await reads.run(for: identity.user) { try await store.restart(identity.user, from: cursor) }
        let problem = Problem(
            .cursorExpired, "This cursor has expired. Reload the threads listed here, then sync from the new cursor.")
        let place = JSONText(utf8: Array("\"\(fresh.cursor)\"".utf8))
        return SyncAnswers.refusal(problem, extra: [("cursor", place), ("threads", fresh.threads)])
    }
}

extension HTTPField.Name {
    static let preferenceApplied = Self("Preference-Applied")!
}
