// What the address of a command answers.

/// The body of an answer with a 2xx status.
package enum CommandAnswer: Sendable {
    /// There is no text: nothing is posted.
    case nothing
    /// The payload of the reply.
    case reply(JSONText)
    /// It is not JSON, or has values of other types.
    case invalid
    case tooLong

    /// Reads `{"text": …}` or `{"payload": {…}}`. Unknown keys are ignored. A reply has no attachments, because they
    /// belong to the account that stored them.
    package init(_ body: [UInt8], limits: Limits) {
        let isBlank = body.allSatisfy { [0x09, 0x0a, 0x0d, 0x20].contains($0) }
        if isBlank {
            self = .nothing
        } else if let json = try? JSONReader.read(body), json.object != nil {
            self = Self.read(json, limits)
        } else {
            self = .invalid
        }
    }

    private static func read(_ json: JSONValue, _ limits: Limits) -> CommandAnswer {
        switch (json["payload"], json["text"]) {
        case (nil, nil), (nil, .null), (.null, nil), (.null, .null): .nothing
        case (nil, .string(let text)), (.null, .string(let text)):
            text.isEmpty ? .nothing : reply(.object([.init("text", .string(text))]), limits)
        case (.object(let members), nil), (.object(let members), .null): reply(.object(members), limits)
        default: .invalid
        }
    }

    private static func reply(_ json: JSONValue, _ limits: Limits) -> CommandAnswer {
        if let text = json["text"]?.string, text.utf8.count > limits.textByteCountMax { return .tooLong }
        if JSONText(json).utf8.count > limits.payloadByteCountMax { return .tooLong }
        guard let payload = try? MessagePayload(json, as: .message, limits: limits), payload.attachments.isEmpty else {
            return .invalid
        }
        return .reply(payload.text)
    }
}
