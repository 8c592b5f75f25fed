// A message as the host app's server sends it, checked.

/// A new message in the name of a user, or of the server itself.
package struct ServerMessageDraft: Sendable {
    /// Without mentions. The type of a message of the server itself is not used.
    package var message: MessageDraft
    /// Nil for a message of the server itself.
    package var sender: UserReference?
    package var mentions: [UserReference]
    /// Whether the message alerts nobody.
    package var isSilent: Bool

    package init(_ body: JSONValue, limits: Limits) throws(Invalid) {
        var fields = try Fields(body)
        let isOfServer = body["sender"] == .null
        if !fields.has("sender") {
            fields.refuse("sender", "Is required: a user, or null for a message of the server itself.")
        }
        sender = fields.optional("sender", UserReference.self)
        let id = fields.optional("id", MessageID.self)
        let type = fields.optional("type") { json throws(Invalid) -> MessageType? in
            guard isOfServer else { return try MessageType(json) }
            guard json == .string("system") else { throw Invalid("Must be system, or left out, without a sender.") }
            return nil
        }
        let isTypeWrong = fields.isRefused("type")
        let payload = fields.required("payload") { json throws(Invalid) in
            if isOfServer, json["action"] != nil, json["by"] != nil {
                throw Invalid("Must not have both `action` and `by`: by these clients know the service's own messages.")
            }
            // With a wrong type, and for the server's own messages, there are no rules for the members of the payload.
            let rules = isOfServer || isTypeWrong ? nil : (type ?? nil) ?? .message
            return try MessagePayload(json, as: rules, limits: limits)
        }
        let replyTo = fields.optional("reply_to", MessageID.self)
        mentions =
            (fields.optional("mentions") { json throws(Invalid) in
                try json.entries(countMax: MessageDraft.mentionCountMax) { user throws(Invalid) in
                    try UserReference(user)
                }
            } ?? [])
        let expires = fields.optional("expires_in_s", KeptTime.self)
        isSilent = fields.optional("silent", Bool.self) ?? false
        message = MessageDraft(
            id: id ?? .make(), type: (type ?? nil) ?? .message, payload: try fields.values(payload), replyTo: replyTo,
            expires: expires)
    }
}
