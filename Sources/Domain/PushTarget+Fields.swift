// How a push target is read from the body of its registration.

extension PushPlatform: WordField {}
extension PushPrivacy: WordField {}

extension PushTarget.APNsEnvironment: WordField {
    /// Apple calls the host of one of them the sandbox.
    package init(text: String) throws(Invalid) {
        guard let word = text == "sandbox" ? .development : Self(rawValue: text) else {
            throw Invalid("Must be one of: production, development.")
        }
        self = word
    }
}

extension PushTarget {
    /// - allowsPlainHTTP: of Web Push endpoints, for tests.
    package init(_ body: JSONValue, allowsPlainHTTP: Bool) throws(Invalid) {
        var fields = try Fields(body)
        guard let platform = fields.required("platform", PushPlatform.self) else {
            // What else there should be depends on it.
            for name in ["token", "environment", "topic", "endpoint", "keys"] {
                _ = fields.given(name) { (_: JSONValue) throws(Invalid) in }
            }
            try fields.end()
            throw Invalid("Is required.")
        }
        switch platform {
        case .apns:
            let token = fields.required("token") { json throws(Invalid) in try PushToken(json, characterCountMax: 200) }
            let environment = fields.required("environment", APNsEnvironment.self)
            let topic = fields.optional("topic", PushTopic.self)
            let (text, place) = try fields.values(token, environment)
            self = .apns(token: text.text, environment: place, topic: topic?.text)
        case .fcm:
            let token = fields.required("token") { json throws(Invalid) in try PushToken(json, characterCountMax: 4_096)
            }
            self = .fcm(token: try fields.values(token).text)
        case .webpush:
            let endpoint = fields.required("endpoint") { json throws(Invalid) in
                try PushEndpoint(json, allowsPlainHTTP: allowsPlainHTTP)
            }
            let keys = fields.required("keys") { json throws(Invalid) in try WebPushKeyFields(json) }
            let (url, pair) = try fields.values(endpoint, keys)
            self = .webPush(endpoint: url.text, key: pair.key, secret: pair.secret)
        }
    }

    /// As it is read.
    package var json: JSONValue {
        var members: [JSONValue.Member] = [.init("platform", .string(platform.rawValue))]
        switch self {
        case .apns(let token, let environment, let topic):
            members.append(.init("token", .string(token)))
            members.append(.init("environment", .string(environment.rawValue)))
            if let topic { members.append(.init("topic", .string(topic))) }
        case .fcm(let token):
            members.append(.init("token", .string(token)))
        case .webPush(let endpoint, let key, let secret):
            members.append(.init("endpoint", .string(endpoint)))
            let keys: [JSONValue.Member] = [
                .init("p256dh", .string(Base64.urlSafe.encode(key))),
                .init("auth", .string(Base64.urlSafe.encode(secret))),
            ]
            members.append(.init("keys", .object(keys)))
        }
        return .object(members)
    }
}

/// What a platform calls a device: it stands in the path or the body of a request to it.
private struct PushToken {
    let text: String

    init(_ json: JSONValue, characterCountMax: Int) throws(Invalid) {
        guard case .string(let text) = json else { throw Invalid("Must be a string.") }
        let isToken = text.utf8.allSatisfy { $0.isAlphanumeric || "-_.:~".utf8.contains($0) }
        guard isToken, (1...characterCountMax).contains(text.utf8.count) else {
            throw Invalid("Must be the device's token: 1 to \(characterCountMax) letters, digits, and any of -_.:~")
        }
        self.text = text
    }
}

/// The app's bundle id, perhaps with a suffix.
private struct PushTopic: TextField {
    let text: String

    init(text: String) throws(Invalid) {
        let isTopic = text.utf8.allSatisfy { $0.isAlphanumeric || "-.".utf8.contains($0) }
        guard isTopic, (1...255).contains(text.utf8.count) else { throw Invalid("Must be an app's bundle id.") }
        self.text = text
    }
}

/// Where a client's push service takes alerts. Where that really is, is looked at when it is connected to.
private struct PushEndpoint {
    let text: String

    init(_ json: JSONValue, allowsPlainHTTP: Bool) throws(Invalid) {
        let url = try ImageURL(json).text
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard scheme == "https" || allowsPlainHTTP else { throw Invalid("Must be an https URL.") }
        let authority = url.dropFirst(scheme.utf8.count + 3).prefix { !"/?#".contains($0) }
        guard !authority.contains("@"), !url.contains("#") else {
            throw Invalid("Must be a URL without user or fragment.")
        }
        text = url
    }
}

/// `keys` of a browser's subscription, in base64url; with padding, or in the other alphabet, too.
private struct WebPushKeyFields {
    let key: [UInt8]
    let secret: [UInt8]

    init(_ json: JSONValue) throws(Invalid) {
        var fields = try Fields(json)
        let key = fields.required("p256dh") { json throws(Invalid) in
            try Self.bytes(json, count: 65, first: 4, "Must be an uncompressed point on P-256, 65 bytes in base64url.")
        }
        let secret = fields.required("auth") { json throws(Invalid) in
            try Self.bytes(json, count: 16, "Must be 16 bytes in base64url.")
        }
        (self.key, self.secret) = try fields.values(key, secret)
    }

    private static func bytes(
        _ json: JSONValue, count: Int, first: UInt8? = nil, _ refusal: String
    ) throws(Invalid) -> [UInt8] {
        guard case .string(let given) = json else { throw Invalid("Must be a string.") }
        // The longest padding there is.
        let unpadded = given.hasSuffix("==") ? given.dropLast(2) : given.hasSuffix("=") ? given.dropLast() : given[...]
        guard let bytes = Base64.urlSafe.decode(unpadded) ?? Base64.standard.decode(unpadded), bytes.count == count,
            first == nil || bytes.first == first
        else { throw Invalid(refusal) }
        return bytes
    }
}
