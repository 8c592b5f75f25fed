// Lines about messages: `message`, `message_version`, `reaction` and `hidden_message`.
import Domain
import Store

extension LineParser {
    func message(_ data: JSONValue, line: Int) throws(Invalid) -> ImportedMessage {
        var fields = try Fields(data, ignoresUnknown: true)
        let id = fields.required("id", MessageID.self)
        let thread = fields.required("thread_id", ThreadID.self)
        let sender = fields.optional("sender_id", UserID.self)
        let isSystem = data["type"] == .string("system")
        let type = isSystem ? nil : fields.required("type", MessageType.self)
        let payload = fields.optional("payload") { json throws(Invalid) in
            try content(json, as: type)
        }
        let mentions = fields.optional("mentions") { json throws(Invalid) in
            try json.entries(countMax: MessageDraft.mentionCountMax) { user throws(Invalid) in try UserID(user) }
        }
        let seq = fields.optional("seq", Seq.self)
        let replyTo = fields.optional("reply_to", MessageID.self)
        let createdAt = fields.required("created_at", Timestamp.self)
        let editedAt = fields.optional("edited_at", Timestamp.self)
        let deletedAt = fields.optional("deleted_at", Timestamp.self)
        let expiresAt = fields.optional("expires_at", Timestamp.self)
        if isSystem != (sender == nil), !fields.isRefused("sender_id") {
            fields.refuse("sender_id", "Must be null in messages of the type system, and in no others.")
        }
        let (present, home, time) = try fields.values(id, thread, createdAt)

        var message = ImportedMessage(
            line: line, thread: home, id: present, type: type?.text ?? "system", createdAt: time.inMilliseconds)
        message.seq = seq?.value
        message.sender = sender
        // A deleted message has no content, whatever the archive says.
        message.payload = deletedAt == nil ? payload : nil
        message.replyTo = replyTo
        message.mentions = mentions?.withoutRepeats ?? []
        message.editedAt = editedAt?.inMilliseconds
        message.deletedAt = deletedAt?.inMilliseconds
        message.expiresAt = expiresAt?.inMilliseconds
        return message
    }

    /// - Parameter type: nil for a system message, which has any object.
    private func content(_ json: JSONValue, as type: MessageType?) throws(Invalid) -> MessagePayload {
        try MessagePayload(json, as: type, limits: limits)
    }

    /// The type of the message is not known here, so the payload's shape tells whether it has attachments.
    func version(_ data: JSONValue, line: Int) throws(Invalid) -> JSONValue {
        var fields = try Fields(data, ignoresUnknown: true)
        var row = RowWriter(line: line)
        row.set("thread_id", fields.required("thread_id", ThreadID.self))
        row.set("message_id", fields.required("message_id", MessageID.self))
        let version = fields.required("version") { json throws(Invalid) in
            guard let version = json.integer, let number = Int32(exactly: version), number >= 0 else {
                throw Invalid("Must be a whole number, 0 or more.")
            }
            return number
        }
        row.set("version", number: version)
        row.set("replaced_at", fields.required("replaced_at", Timestamp.self))
        let payload = fields.optional("payload") { json throws(Invalid) in
            // Earlier versions of locations and of apps' own types never have attachments.
            let hasAttachments = json["attachments"]?.array.map { !$0.isEmpty } ?? false
            let type: MessageType? =
                !hasAttachments ? nil : json["ciphertext"] == nil ? .message : .encrypted
            return (try self.content(json, as: type), json)
        }
        try fields.end()
        if let (checked, json) = payload {
            row.set("payload", checked.attachments.isEmpty ? json : checked.json(json))
            row.set("attachments", checked.attachments)
        }
        return row.json
    }

    func reaction(_ data: JSONValue, line: Int) throws(Invalid) -> JSONValue {
        var fields = try Fields(data, ignoresUnknown: true)
        var row = RowWriter(line: line)
        row.set("thread_id", fields.required("thread_id", ThreadID.self))
        row.set("message_id", fields.required("message_id", MessageID.self))
        row.set("user_id", fields.required("user_id", UserID.self))
        row.set("emoji", fields.required("emoji", Emoji.self)?.text)
        row.set("created_at", fields.required("created_at", Timestamp.self))
        try fields.end()
        return row.json
    }

    func hidden(_ data: JSONValue, line: Int) throws(Invalid) -> JSONValue {
        var fields = try Fields(data, ignoresUnknown: true)
        var row = RowWriter(line: line)
        row.set("thread_id", fields.required("thread_id", ThreadID.self))
        row.set("user_id", fields.required("user_id", UserID.self))
        row.set("message_id", fields.required("message_id", MessageID.self))
        try fields.end()
        return row.json
    }
}

extension MessagePayload {
    /// The payload as it goes to the database: the same members, with the attachments' ids at the end.
    fileprivate func json(_ original: JSONValue) -> JSONValue {
        let ids = attachments.map { JSONValue.object([.init("id", .string($0.description))]) }
        return .object((original.object ?? []).filter { $0.key != "attachments" } + [.init("attachments", .array(ids))])
    }
}

extension Timestamp {
    /// What the service stores.
    fileprivate var inMilliseconds: Timestamp {
        Timestamp(microsSince1970: microsSince1970 - microsSince1970 % 1_000)
    }
}
