// The one error type of the library.
import Foundation

/// Every error that this library throws, besides `CancellationError`.
///
/// `kind` says what failed. For a refusal of the server decide by `code`, and for a code that you do not know by
/// `isTemporary`. Later versions add kinds, so a `switch` over `kind` has a `default`.
public struct ParleyError: Error, Sendable {
    /// What failed.
    public struct Kind: StringValue {
        /// The kind's name, for logs.
        public let rawValue: String
        /// Makes the kind of this name.
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// The server refused the call: `problem` is its answer.
        public static let refused: Self = "refused"
        /// No answer arrived. Nothing is known about the call's effect, so it may be repeated.
        public static let noAnswer: Self = "no_answer"
        /// The server's answer is not what the contract says.
        public static let unreadableAnswer: Self = "unreadable_answer"
        /// Nobody is signed in, or the session has ended.
        public static let signedOut: Self = "signed_out"
        /// Another client has opened the same store.
        public static let storeInUse: Self = "store_in_use"
        /// The store cannot be read or written, for example because the disk is full.
        public static let storeFailed: Self = "store_failed"
        /// The file of an attachment cannot be read.
        public static let fileUnreadable: Self = "file_unreadable"
        /// A download cannot be written to its file.
        public static let fileUnwritable: Self = "file_unwritable"
        /// The client was closed.
        public static let closed: Self = "closed"
        /// There is no such message in the outbox.
        public static let notInOutbox: Self = "not_in_outbox"
    }

    /// What failed.
    public let kind: Kind
    /// One English sentence for developers.
    public let detail: String
    /// The server's refusal. Only with `refused`.
    public let problem: Problem?
    /// The error of the system that led to this one: of the network, the database or a file. Two errors that differ only
    /// here are equal, and the cause of a failed message is not stored.
    public let cause: (any Error)?

    /// Makes an error. Use it in your own transport or token storage, and in tests.
    public init(_ kind: Kind, detail: String, cause: (any Error)? = nil) {
        self.init(kind, detail: detail, problem: nil, cause: cause)
    }

    init(_ kind: Kind, detail: String, problem: Problem?, cause: (any Error)?) {
        self.kind = kind
        self.detail = detail
        self.problem = problem
        self.cause = cause
    }
}

extension ParleyError {
    /// The code of the server's refusal; nil for every other error.
    public var code: Problem.Code? { problem?.code }

    /// Whether the same call may succeed later.
    public var isTemporary: Bool {
        switch kind {
        case .refused: problem?.isTemporary ?? false
        case .noAnswer, .unreadableAnswer, .storeFailed: true
        default: false
        }
    }

    /// The token is dead: all data of the account must go.
    var endsSession: Bool { problem?.status == 401 }

    /// The server will refuse the same call again, and the session lasts.
    var isFinalRefusal: Bool { problem.map { !$0.isTemporary && $0.status != 401 } ?? false }

    /// The thread or message is gone, or not the user's any more.
    var isGone: Bool { [403, 404].contains(problem?.status) }
}

/// The errors as the library makes them.
extension ParleyError {
    /// The server refused the call.
    public static func refused(_ problem: Problem) -> Self {
        .init(.refused, detail: problem.detail, problem: problem, cause: nil)
    }

    /// No answer arrived.
    public static func noAnswer(_ reason: String, cause: (any Error)? = nil) -> Self {
        .init(.noAnswer, detail: "The server did not answer: \(reason)", cause: cause)
    }

    /// The server's answer is not what the contract says.
    public static func unreadableAnswer(_ reason: String, cause: (any Error)? = nil) -> Self {
        .init(.unreadableAnswer, detail: "The server's answer cannot be read: \(reason)", cause: cause)
    }

    /// Nobody is signed in, or the session has ended.
    public static let signedOut = Self(
        .signedOut, detail: "Nobody is signed in, or the session has ended. Sign in again.")

    /// Another client has opened the same store.
    public static func storeInUse(path: String) -> Self {
        .init(.storeInUse, detail: "Another client has opened the store \(path). Close that client first.")
    }

    /// The store cannot be read or written.
    public static func storeFailed(_ reason: String, cause: (any Error)? = nil) -> Self {
        .init(.storeFailed, detail: "The local store failed: \(reason)", cause: cause)
    }

    /// The file of an attachment cannot be read.
    public static func fileUnreadable(path: String, reason: String, cause: (any Error)? = nil) -> Self {
        .init(.fileUnreadable, detail: "The file \(path) cannot be read: \(reason)", cause: cause)
    }

    /// A download cannot be written to its file.
    public static func fileUnwritable(path: String, reason: String, cause: (any Error)? = nil) -> Self {
        .init(.fileUnwritable, detail: "The file \(path) cannot be written: \(reason)", cause: cause)
    }

    /// The client was closed.
    public static let closed = Self(.closed, detail: "This client was closed. Make a new one.")

    /// There is no such message in the outbox.
    public static func notInOutbox(_ id: MessageID) -> Self {
        .init(.notInOutbox, detail: "The outbox has no message \(id).")
    }
}

extension ParleyError: Hashable {
    /// Compares everything but `cause`.
    public static func == (left: ParleyError, right: ParleyError) -> Bool {
        left.kind == right.kind && left.detail == right.detail && left.problem == right.problem
    }

    /// Hashes everything but `cause`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(detail)
        hasher.combine(problem)
    }
}

extension ParleyError: CustomStringConvertible, LocalizedError {
    /// The sentence; for a refusal also the invalid fields, the code and the status.
    public var description: String { problem?.description ?? detail }

    /// The same as `description`: English, for developers.
    public var errorDescription: String? { description }
}
