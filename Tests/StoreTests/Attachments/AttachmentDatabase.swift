// A database with people, threads and attachments, through the store alone.
import Domain
import Foundation
import Postgres
import Store
import TestSupport

struct AttachmentDatabase: Sendable {
    let store: Store
    let client: PostgresClient
    let conninfo: String

    static let rules = UploadRules(
        byteCountMax: 50_000_000, quotaByteCount: 100_000_000, unusedCountMax: 100, unusedHours: 24)

    /// Runs a test on a new database, or on the given one.
    @discardableResult
    static func run<Value>(
        on conninfo: String? = nil, _ body: (AttachmentDatabase) async throws -> Value
    ) async throws -> Value {
        let database = if let conninfo { conninfo } else { try await MigratedDatabase.create() }
        var settings = PostgresSettings(test: database)
        settings.connectionCountMax = 8
        // So that one statement that waits for a lock delays no other.
        settings.inFlightPerConnectionMax = 1
        let client = PostgresClient(settings, logger: .quiet)
        return try await finally {
            try await body(AttachmentDatabase(store: Store(client), client: client, conninfo: database))
        } end: {
            await client.shutdown()
        }
    }

    /// Runs SQL for what no call of the store does.
    @discardableResult
    func sql(_ text: String) async throws -> String { try await Psql.run(text, conninfo: conninfo) }

    // MARK: People and threads

    /// A new account with one device.
    func identity() async throws -> Identity {
        let identity = Identity(user: .make(), session: .make())
        let name = identity.user.description
        _ = try await store.register(
            user: identity.user, username: name, key: name, name: "Someone", words: [], passwordHash: "-",
            session: NewSession(
                id: identity.session, digest: Array(identity.session.description.utf8), deviceName: nil,
                accountCountMax: 100))
        return identity
    }

    func user() async throws -> UserID { try await identity().user }

    /// One more device of an account.
    func device(of user: UserID) async throws -> Identity {
        let identity = Identity(user: user, session: .make())
        try await sql(
            "select from session_create('\(user)', '\(identity.session)', '\(identity.session)'::text::bytea, null)")
        return identity
    }

    func thread(
        _ kind: ThreadKind = .group, of creator: UserID, _ members: [UserID] = [], invite: Bool = false,
        retention: Retention = .forever
    ) async throws -> ThreadID {
        let thread = ThreadID.make()
        _ = try await store.createThread(
            id: thread, kind: kind, title: kind == .direct ? nil : "T", roomKey: kind == .room ? "\(thread)" : nil,
            creator: creator, members: members, invite: invite, retention: retention)
        return thread
    }

    // MARK: Attachments

    /// An upload with all its bytes, in state `checking`.
    func uploaded(_ bytes: [UInt8], by owner: UserID, id: AttachmentID = .make()) async throws -> AttachmentJob {
        guard
            case .receiving(var claim) = try await store.beginUpload(
                id, owner: owner, name: "a.png", declaredType: "image/png", length: nil, rules: Self.rules)
        else { throw Problem(.internalError, "The upload was complete before.") }
        try await append(bytes, to: &claim)
        try await store.finishUpload(claim, rules: Self.rules)
        guard let job = try await store.claimAttachment(id, leaseSeconds: 60) else {
            throw Problem(.internalError, "The upload cannot be claimed.")
        }
        return job
    }

    /// Appends bytes in pieces that end at the ends of chunks.
    func append(_ bytes: [UInt8], to claim: inout UploadClaim) async throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let space = AttachmentSizes.chunkByteCount - claim.offset % AttachmentSizes.chunkByteCount
            let piece = Array(rest.prefix(space))
            rest = rest.dropFirst(space)
            try await store.append(piece, to: &claim, isDurable: rest.isEmpty)
        }
    }

    /// A ready attachment: a picture, unless the type is another.
    func attachment(
        of owner: UserID, _ bytes: [UInt8] = Array("picture".utf8), type: String = "image/png"
    ) async throws -> AttachmentID {
        let job = try await uploaded(bytes, by: owner)
        try await store.finishAttachment(job, Self.checked(bytes, type: type))
        return job.attachment
    }

    static func checked(_ bytes: [UInt8], type: String = "image/png") -> CheckedAttachment {
        CheckedAttachment(
            uploadedDigest: [1], served: StoredVariant(mediaType: type, byteCount: bytes.count, digest: [2]))
    }

    /// The bytes that are served.
    func bytes(of id: AttachmentID, _ variant: AttachmentVariant = .original) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let chunk = try await store.chunk(bytes.count / AttachmentSizes.chunkByteCount, of: variant, id) {
            bytes += chunk
            if chunk.count < AttachmentSizes.chunkByteCount { break }
        }
        return bytes
    }

    /// Erases all that is due.
    func sweep() async throws {
        while try await store.sweepAttachments(limit: 10) > 0 {}
    }

    /// The code of the refusal to open the attachment; nil if the user may.
    func refusal(of id: AttachmentID, to user: UserID) async throws -> ProblemCode? {
        do {
            _ = try await store.openAttachment(id, variant: .original, for: .user(user))
            return nil
        } catch let problem as Problem {
            return problem.code
        }
    }

    // MARK: Messages

    /// Sends a message with attachments. Returns its id. Throws the refusal.
    @discardableResult
    func send(
        _ attachments: [AttachmentID], to thread: ThreadID, by sender: UserID, id: MessageID = .make(),
        text: String? = "hi", expires: KeptTime? = nil
    ) async throws -> MessageID {
        let payload = Self.payload(attachments, text: text)
        let message = NewMessage(
            id: id, thread: thread, sender: sender, type: "message", payload: payload.text,
            attachments: payload.attachments, expires: expires)
        if case .refused(let problem) = try await outcomes(of: [message])[0] { throw problem }
        return id
    }

    /// The payload as `MessagePayload` makes it of a client's.
    static func payload(_ attachments: [AttachmentID], text: String? = "hi") -> MessagePayload {
        var members = text.map { ["\"text\":\"\($0)\""] } ?? []
        if !attachments.isEmpty {
            let ids = attachments.map { "{\"id\":\"\($0)\"}" }
            members.append("\"attachments\":[\(ids.joined(separator: ","))]")
        }
        return MessagePayload(
            text: JSONText(utf8: Array("{\(members.joined(separator: ","))}".utf8)), attachments: attachments)
    }

    /// Sends messages in one batch.
    func outcomes(of batch: [NewMessage]) async throws -> [Store.Appended] {
        try await withCheckedThrowingContinuation { continuation in
            store.append(batch) { answer in
                continuation.resume(with: Result { try Store.appended(answer.get(), batch).outcomes })
            }
        }
    }

    /// A stored message as JSON.
    func message(_ id: MessageID, in thread: ThreadID, for user: UserID) async throws -> String {
        String(decoding: try await store.message(id, in: thread, for: user).utf8, as: UTF8.self)
    }
}
