// The header `Idempotency-Key`: which calls take it, and the answers to repeats.
import Cryptography
import Domain
import FoundationEssentials
import HTTPTypes
import NIOCore
import Store
import Transport

extension Route {
    /// What a call does with an `Idempotency-Key`.
    package enum Repeats: Sendable {
        /// The call creates something: the first answer is kept for a day.
        case kept
        /// Refuses the header: the answer has a secret, or the body is a file.
        case refused
        /// The call creates nothing, or has a rule of its own.
        case ignored
    }
}

extension IdempotentRequest {
    static let keyByteCountMax = 128

    /// The request of a caller. Nil without the header, and for a call that ignores it.
    /// - Throws: 422 for a malformed key, and for a call that refuses the header.
    init?(_ request: InboundRequest, _ route: Route, caller: UUID?) throws(Problem) {
        guard route.repeats != .ignored, let key = request.headers[.idempotencyKey] else { return nil }
        guard route.repeats == .kept else {
            throw Problem(
                .idempotencyKeyUnsupported,
                "This call does not take an Idempotency-Key. Send the request without the header.")
        }
        guard (1...Self.keyByteCountMax).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else {
            throw .invalid(
                "Idempotency-Key", "Must have 1 to \(Self.keyByteCountMax) visible ASCII characters, without spaces.")
        }
        // The path has no line break, so two requests never have the same bytes.
        let head = Array("\(request.method.rawValue) \(request.path)\n".utf8)
        self.init(
            caller: caller, key: key, digest: SHA256.digest(head + Array(buffer: request.body)))
    }

    /// The id of a message whose sender chose none: a repeat has the same, so the policy is asked once.
    var messageID: MessageID {
        MessageID(digest: SHA256.digest(Array("\(caller?.uuidString ?? "") \(key) ".utf8) + digest))
    }
}

extension Answer {
    /// The answer to a repeat.
    init(_ kept: KeptAnswer) {
        self = .json(kept.body, status: .init(code: kept.status))
        headers[.idempotentReplayed] = "true"
    }
}

extension HTTPField.Name {
    static let idempotencyKey = Self("Idempotency-Key")!
    fileprivate static let idempotentReplayed = Self("Idempotent-Replayed")!
}
