// Reads the answer of the operator's policy: `{action, code?, detail?, payload?}`.

extension PolicyVerdict {
    private static let deniedDetail = "This message is not allowed here."

    /// Reads a verdict about a message of this type. Other members are ignored.
    ///
    /// A rewritten payload must obey the rules for the message's type. It may leave attachments out, but not add any: the
    /// policy has no right to files. A `code` that is no code is replaced by `policy_denied`, and a long `detail` is cut: the
    /// policy's will is clear.
    package init(
        _ json: JSONValue, about type: MessageType, attachments: [AttachmentID], limits: Limits
    ) throws(Invalid) {
        switch json["action"]?.string.flatMap(Action.init) {
        case .allow: self = .allow
        case .deny:
            self = .deny(
                code: Self.code(json["code"]) ?? ProblemCode.policyDenied.rawValue,
                detail: Self.detail(json["detail"]) ?? Self.deniedDetail)
        case .review: self = .review(code: Self.code(json["code"]), detail: Self.detail(json["detail"]))
        case .rewrite:
            guard let payload = json["payload"] else { throw Invalid("A rewrite needs a payload.") }
            let edit = try MessageEdit(.object([.init("payload", payload)]), type: type, limits: limits)
            guard Set(edit.payload.attachments).isSubset(of: attachments) else {
                throw Invalid("A rewrite cannot add attachments.")
            }
            self = .rewrite(edit.payload)
        case nil: throw Invalid("Must have an action: allow, deny, rewrite or review.")
        }
    }

    /// A code as problems have it: lower-case letters, digits and underscores, a letter first.
    private static func code(_ json: JSONValue?) -> String? {
        guard let text = json?.string, text.utf8.count <= PolicyLimits.codeByteCountMax,
            text.wholeMatch(of: /[a-z][a-z0-9_]*/) != nil
        else { return nil }
        return text
    }

    private static func detail(_ json: JSONValue?) -> String? {
        guard let text = json?.string, !text.isEmpty else { return nil }
        return String(text.prefix(PolicyLimits.detailCharacterCountMax))
    }
}
