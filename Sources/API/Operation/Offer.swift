// What the service offers, for clients before and after they sign in: GET /v1/service.
import Domain

/// What a client may offer its user. It contains nothing about accounts, and does not change while the node runs.
package struct ServiceOffer: Sendable {
    /// The name of the service, as people know it.
    let name: String
    let version: String
    /// Who may create an account.
    let registration: RegistrationRule
    /// Whether the service sends mail, and so whether people sign in by a mailed code.
    let sendsMail: Bool
    /// Whether people sign in by tokens of the host app.
    let acceptsTokens: Bool
    /// The push services that alerts are sent to.
    let platforms: Set<PushPlatform>
    /// Whether earlier versions of messages may be read.
    let showsEdits: Bool
    let limits: Limits

    package init(
        name: String, version: String, registration: RegistrationRule, sendsMail: Bool, acceptsTokens: Bool,
        platforms: Set<PushPlatform>, showsEdits: Bool, limits: Limits
    ) {
        (self.name, self.version, self.registration) = (name, version, registration)
        (self.sendsMail, self.acceptsTokens, self.platforms) = (sendsMail, acceptsTokens, platforms)
        (self.showsEdits, self.limits) = (showsEdits, limits)
    }

    var json: JSONValue {
        let ways = ["password"] + (sendsMail ? ["code"] : []) + (acceptsTokens ? ["token"] : [])
        return .object([
            .init("name", .string(name)), .init("version", .string(version)),
            .init("registration", .string(registration.rawValue)), .init("sign_in", .array(ways.map { .string($0) })),
            .init("mail", .bool(sendsMail)),
            .init(
                "push",
                .object(PushPlatform.allCases.map { .init($0.rawValue, .bool(platforms.contains($0))) })),
            .init("edit_history", .bool(showsEdits)),
            .init(
                "limits",
                .object([
                    .init("text_bytes", .integer(limits.textByteCountMax)),
                    .init("payload_bytes", .integer(limits.payloadByteCountMax)),
                    .init("attachment_bytes", .integer(limits.attachmentByteCountMax)),
                    .init("attachments_per_message", .integer(AttachmentSizes.messageCountMax)),
                    .init("title_characters", .integer(limits.titleCharacterCountMax)),
                ])),
        ])
    }
}

struct OfferCalls: Sendable {
    /// A client that asks at each start gets a change within this time.
    private static let ageS = 60
    private let answer: Answer

    init(_ offer: ServiceOffer) {
        var answer = Answer.json(JSONText(offer.json))
        answer.headers[.cacheControl] = "public, max-age=\(Self.ageS)"
        self.answer = answer
    }

    var routes: [Route] { [Route(.get, "/v1/service", .getService, .open { _ in answer })] }
}
