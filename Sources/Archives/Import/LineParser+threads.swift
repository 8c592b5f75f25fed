// Lines about threads: `thread`, `member` and `receipt`.
import Domain

extension LineParser {
    func thread(_ data: JSONValue, line: Int) throws(Invalid) -> JSONValue {
        var fields = try Fields(data, ignoresUnknown: true)
        let id = fields.required("id", ThreadID.self)
        let kind = fields.required("kind", ThreadKind.self)
        let title = fields.optional("title") { json throws(Invalid) in
            try Title(json, characterCountMax: limits.titleCharacterCountMax)
        }
        let topic = fields.optional("topic", Topic.self)
        let image = fields.optional("image", Picture.self)
        let retention = fields.optional("retention", Retention.self)
        let external = fields.optional("external_id", ExternalID.self)
        let custom = fields.optional("custom", CustomData.self)
        let labels = fields.optional("labels", Labels.self)
        let createdAt = fields.required("created_at", Timestamp.self)
        var pair: [UserID] = []
        switch kind {
        case .direct: pair = Self.pair(&fields)
        case .group, .room:
            if title == nil, kind == .room, !fields.isRefused("title") { fields.refuse("title", "Is required.") }
        case nil: break
        }
        try fields.end()

        var row = RowWriter(line: line)
        row.set("id", id)
        row.set("kind", kind?.rawValue)
        row.set("created_at", createdAt)
        row.set("keep_s", number: retention?.keepS)
        row.set("external_id", external?.text)
        row.set("custom", custom?.text)
        row.set("labels", labels)
        if let low = pair.min(), let high = pair.max() {
            row.set("direct_low", low)
            row.set("direct_high", high)
            return row.json
        }
        row.set("title", title?.text)
        row.set("topic", topic?.text)
        row.set("image", image?.text)
        if kind == .room { row.set("room_key", title?.key.text) }
        return row.json
    }

    /// The two people of a direct thread.
    private static func pair(_ fields: inout Fields<JSONValue>) -> [UserID] {
        let users = fields.required("user_ids") { json throws(Invalid) in
            try json.entries(countMax: 2) { user throws(Invalid) in try UserID(user) }
        }
        if let users, Set(users).count != 2 { fields.refuse("user_ids", "Must be two different users.") }
        return users ?? []
    }

    func member(_ data: JSONValue, line: Int) throws(Invalid) -> JSONValue {
        var fields = try Fields(data, ignoresUnknown: true)
        var row = RowWriter(line: line)
        let thread = fields.required("thread_id", ThreadID.self)
        let user = fields.required("user_id", UserID.self)
        row.set("role", (fields.optional("role", MemberRole.self) ?? .member).rawValue)
        row.set("status", (fields.optional("status", MemberStatus.self) ?? .joined).rawValue)
        row.set("invited_by", fields.optional("invited_by", UserID.self))
        for name in ["joined_at", "invited_at", "read_at", "delivered_at", "muted_until"] {
            row.set(name, fields.optional(name, Timestamp.self))
        }
        for name in ["read_seq", "delivered_seq"] { row.set(name, number: fields.optional(name, Seq.self)?.value) }
        row.set("hidden_before_seq", number: fields.optional("hidden_before_seq", Seq.self)?.value ?? 0)
        for name in ["archived", "pinned"] { row.set(name, fields.optional(name, Bool.self) ?? false) }
        row.set("left_by_choice", fields.optional("left_by_choice", Bool.self))
        row.set("custom", fields.optional("custom", CustomData.self)?.text)
        row.set("labels", fields.optional("labels", Labels.self))
        row.set("notify", (fields.optional("notify", NotifyLevel.self) ?? .all).stored)
        try fields.end()
        row.set("thread_id", thread)
        row.set("user_id", user)
        return row.json
    }

    func receipt(_ data: JSONValue, line: Int) throws(Invalid) -> JSONValue {
        var fields = try Fields(data, ignoresUnknown: true)
        var row = RowWriter(line: line)
        row.set("thread_id", fields.required("thread_id", ThreadID.self))
        row.set("user_id", fields.required("user_id", UserID.self))
        row.set("kind", fields.required("kind", ReceiptKind.self)?.rawValue)
        row.set("seq", number: fields.required("seq", Seq.self)?.value)
        row.set("at", fields.required("at", Timestamp.self))
        try fields.end()
        return row.json
    }

    private enum ReceiptKind: String, WordField { case read, delivered }
}
