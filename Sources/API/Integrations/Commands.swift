// Commands: administrators make them, and clients complete their words. CommandWorker answers them.
import Domain
import HTTPTypes
import Store

/// The calls on commands.
package struct CommandCalls: Sendable {
    private let store: Store
    /// Whether commands may have private addresses and no TLS. For tests.
    private let allowsPrivate: Bool

    package init(store: Store, allowsPrivate: Bool) {
        self.store = store
        self.allowsPrivate = allowsPrivate
    }

    package var routes: [Route] {
        let (all, one) = ("/v1/admin/commands", "/v1/admin/commands/{command_id}")
        return [
            Route(.get, "/v1/commands", .listCommands, query: .read, .signedIn(offerCommands)),
            Route(.post, all, .adminCreateCommand, body: .small, .admin(.webhooks, createCommand)),
            Route(.get, all, .adminListCommands, query: .read, .adminList(.webhooks, "commands", store.commands(_:))),
            Route(
                .get, one, .adminGetCommand,
                .admin(.webhooks) { call, _ in .json(try await store.command(call.command())) }),
            Route(.patch, one, .adminUpdateCommand, body: .small, .admin(.webhooks, updateCommand)),
            Route(
                .delete, one, .adminDeleteCommand,
                .adminDone(.webhooks) { try await store.deleteCommand($0.command(), by: $1) }),
            Route(.post, one + "/rotate", .adminRotateCommand, body: .small, .admin(.webhooks, rotateCommand)),
        ]
    }

    /// The words that the caller may use in a thread.
    private func offerCommands(_ call: Call, _ identity: Identity) async throws -> Answer {
        var query = call.query
        let given = query.required("thread_id", ThreadID.self)
        let thread = try query.values(given)
        let commands = try await store.commands(in: thread, for: identity.user)
        var writer = JSONWriter(reserving: commands.utf8.count + 16)
        writer.raw(#"{"commands":"#)
        writer.raw(commands)
        writer.raw("}")
        return .json(JSONText(utf8: writer.utf8))
    }

    private func createCommand(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let url = EndpointURL.text(allowsPrivate: allowsPrivate)
        let fields = try await call.fields { fields in try NewCommandFields(&fields, url) }
        var thread: ThreadID?
        if let reference = fields.thread { thread = try await store.id(of: reference, in: "thread_id") }
        let secret = WebhookSecret.random()
        let new = NewCommand(
            word: fields.word, url: fields.url, description: fields.description?.text, name: fields.name?.text,
            image: fields.image?.text, thread: thread, secret: secret.bytes)
        let command = try await store.createCommand(new, countMax: CommandLimits.countMax, by: actor)
        return .json(command.adding("secret", secret.text), status: .created)
    }

    private func updateCommand(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let id = try call.command()
        let url = EndpointURL.text(allowsPrivate: allowsPrivate)
        let change = try await call.fields { fields in
            let url = fields.given("url", url)
            let description = fields.given("description") { json throws(Invalid) in
                try CommandDescription?(json)?.text
            }
            let isEnabled = fields.given("enabled") { json throws(Invalid) in try Bool(json) }
            try fields.end()
            return CommandChange(url: url, description: description, isEnabled: isEnabled)
        }
        return .json(try await store.updateCommand(id, change, by: actor))
    }

    private func rotateCommand(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let id = try call.command()
        return try await call.rotate { secret in
            try await store.rotateCommand(
                id, secret: secret, bothSeconds: WebhookLimits.bothSecretsSeconds, by: actor)
        }
    }
}

/// A command that the operator creates.
private struct NewCommandFields: Sendable {
    var word: CommandWord
    var url: String
    var description: CommandDescription?
    var name: DisplayName?
    var image: ImageURL?
    var thread: ThreadReference?

    init(_ fields: inout Fields<JSONValue>, _ url: (JSONValue) throws(Invalid) -> String) throws {
        let word = fields.required("word", CommandWord.self)
        let url = fields.required("url", url)
        description = fields.optional("description", CommandDescription.self)
        name = fields.optional("name", DisplayName.self)
        image = fields.optional("image", ImageURL.self)
        thread = fields.optional("thread_id", ThreadReference.self)
        (self.word, self.url) = try fields.values(word, url)
    }
}

extension Call {
    fileprivate func command() throws(Problem) -> CommandID {
        try id(of: "command", orElse: .commandNotFound)
    }
}
