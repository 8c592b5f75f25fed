// Incoming hooks: administrators make them, and other services post to them without a token of their own.
import Credentials
import Cryptography
import Domain
import HTTPTypes
import NIOCore
import Store
import Workers

struct HookCalls: Sendable {
    static let pattern = "/v1/hooks/{token}"

    let store: Store
    let rates: RateLimits
    let limits: Limits
    let origins: PublicOrigins
    let messages: MessageCalls
    private let metrics = HookMetrics()

    init(_ services: CallServices, messages: MessageCalls) {
        (store, rates, limits) = (services.store, services.rates, services.limits)
        (origins, self.messages) = (services.origins, messages)
    }

    var feature: Feature { Feature(routes: routes, components: [Component("hooks", metrics: metrics.write)]) }

    private var routes: [Route] {
        let hooks = "/v1/admin/hooks"
        return [
            Route(
                .post, Self.pattern, .postToHook, query: .ignored, body: .hook, repeats: .ignored, .open(postToHook)),
            Route(.post, hooks, .adminCreateHook, body: .small, .admin(.webhooks, createHook)),
            Route(.get, hooks, .adminListHooks, query: .read, .adminList(.webhooks, "hooks", store.hooks)),
            Route(
                .delete, hooks + "/{hook_id}", .adminDeleteHook,
                .adminDone(.webhooks) { try await store.deleteHook($0.id("hook_id", orElse: .hookNotFound), by: $1) }),
        ]
    }

    private func createHook(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let new = try await call.fields { fields in try NewHook(&fields) }
        let thread = try await store.id(of: new.thread, in: "thread_id")
        let origin = try origins.text(for: call)
        let token = HookToken.random()
        let hook = try await store.createHook(
            .make(), digest: token.digest, in: thread, bot: .make(), name: new.name.text, image: new.image?.text,
            limits: limits, by: actor)
        return .json(hook.adding("url", "\(origin)/v1/hooks/\(token.text)"), status: .created)
    }

    private func postToHook(_ call: Call) async throws -> Answer {
        do {
            let answer = try await post(call)
            metrics.posts.add(.init(answer.status))
            // The senders of Slack's shape expect 200.
            return answer.status == .accepted
                ? answer : Answer(status: .ok, headers: answer.headers, body: answer.body)
        } catch {
            metrics.posts.add(.init(error))
            throw error
        }
    }

    private func post(_ call: Call) async throws -> Answer {
        guard let token = call.parameters["token"].flatMap({ HookToken(parsing: $0) }) else {
            throw Problem.hookNotFound
        }
        let digest = token.digest
        // Before the query: nobody can keep the database busy with one hook's address, nor with made-up ones.
        try rates.post(toHook: digest)
        let found = try await rates.lookUp(.hook, from: rates.address(of: call)) {
            try await store.findHook(digest: digest)
        }
        guard let hook = found else { throw Problem.hookNotFound }
        if hook.isSuspended {
            throw Problem(.accountSuspended, "The bot of this hook is suspended. Contact the operator of the service.")
        }
        let id = try Self.messageID(call, hook.id)
        let payload = try await Self.payload(call)
        do {
            return try await messages.append(
                NewMessage(
                    id: id, thread: hook.thread, sender: hook.bot, type: MessageType.message.text,
                    payload: payload.text), of: .message)
        } catch let problem as Problem where problem.code == .threadNotFound || problem.code == .notJoined {
            // The bot was removed from the thread, or the hook was revoked a moment ago.
            throw Problem.hookNotFound
        }
    }

    /// With an `Idempotency-Key`, the message's id is made of it: the same key again is the same message.
    private static func messageID(_ call: Call, _ hook: HookID) throws(Problem) -> MessageID {
        guard let key = call.request.headers[.idempotencyKey] else { return .make() }
        guard (1...IdempotencyKey.byteCountMax).contains(key.utf8.count),
            key.utf8.allSatisfy({ (0x20..<0x7f).contains($0) })
        else {
            throw .invalid(
                "Idempotency-Key", "Must have 1 to \(IdempotencyKey.byteCountMax) printable ASCII characters.")
        }
        return MessageID(digest: SHA256.digest(Array("\(hook) \(key)".utf8)))
    }

    /// Reads JSON, or a form with JSON in its field `payload`. Many senders leave curl's type of a form on plain JSON.
    private static func payload(_ call: Call) async throws -> MessagePayload {
        let bytes = call.request.body
        let type = call.request.headers[.contentType]
        guard let type, ContentTypeHeader.isForm(type) else {
            return try read(await JSONBody.read(bytes, type: type, limits: call.limits), call.limits)
        }
        var json = bytes
        if bytes.readableBytesView.first(where: { $0 > 0x20 }) != UInt8(ascii: "{") {
            guard let text = HookPost.formPayload(Substring(String(buffer: bytes))) else {
                throw Problem.invalid("payload", "Is required in a form: the JSON of the post, percent-encoded.")
            }
            json = ByteBuffer(string: text)
        }
        return try read(await JSONBody.read(json, type: nil, limits: call.limits), call.limits)
    }

    /// Never inlined: the optimising compiler (6.3.1) crashes on reading fields inside an async function.
    @inline(never)
    private static func read(_ body: JSONValue, _ limits: Limits) throws -> MessagePayload {
        try HookPost(body, limits: limits).payload
    }
}

/// A hook that the operator makes.
private struct NewHook: Sendable {
    var thread: ThreadReference
    var name: DisplayName
    var image: ImageURL?

    init(_ fields: inout Fields<JSONValue>) throws {
        let thread = fields.required("thread_id", ThreadReference.self)
        let name = fields.required("name", DisplayName.self)
        image = fields.optional("image", ImageURL.self)
        (self.thread, self.name) = try fields.values(thread, name)
    }
}

private enum IdempotencyKey {
    static let byteCountMax = 255
}

extension Problem {
    static let hookNotFound = Problem(.hookNotFound, "There is no such hook, or it was revoked.")
}
