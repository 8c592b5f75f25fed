// The calls that take a name of somebody. HidingAccounts compares the answers to them, TimesOfCallsByName the times.

/// The ways to name somebody.
package enum Naming: CaseIterable, Sendable {
    case username, email, externalID, id
    /// An external id as admin calls write it: `ext:…`.
    case prefixedExternalID
}

/// A request about somebody. In its path and body `$` stands for the name, and `#` for a thread of the caller.
package struct CallByName: Sendable, CustomStringConvertible {
    package let method: String
    private let target: String
    private let content: String?
    package let namings: [Naming]

    package init(_ method: String, _ path: String, _ body: String? = nil, by namings: [Naming] = Naming.allCases) {
        (self.method, target, content, self.namings) = (method, path, body, namings)
    }

    /// A call that takes a user's id. An id has 74 random bits, and the contract shows the profile to whoever has it. So
    /// answers may differ for ids, unless `hidesIDs`. They must not differ for other names in the place of the id.
    private static func byID(
        _ method: String, _ path: String, _ body: String? = nil, hidesIDs: Bool = false
    ) -> CallByName {
        CallByName(method, path, body, by: Naming.allCases.filter { $0 != .id || hidesIDs })
    }

    package func path(naming name: String, thread: String) -> String {
        target.replacing("#", with: thread).replacing("$", with: target.contains("?") ? percentEncoded(name) : name)
    }

    package func body(naming name: String) -> String? { content?.replacing("$", with: name) }

    package var description: String { "\(method) \(target)\(content.map { " \($0)" } ?? "")" }

    /// All calls outside the admin API that take a name of somebody, by operation.
    package static let all: [String: [CallByName]] = [
        "register": [
            CallByName(
                "POST", "/v1/auth/register", #"{"username":"$","password":"long enough","name":"X"}"#, by: [.username]),
            CallByName("POST", "/v1/auth/register", #"{"email":"$","name":"X"}"#, by: [.email]),
        ],
        "requestCode": [CallByName("POST", "/v1/auth/code", #"{"email":"$"}"#, by: [.email])],
        "login": [
            CallByName("POST", "/v1/auth/login", #"{"username":"$","password":"not this one"}"#, by: [.username]),
            CallByName("POST", "/v1/auth/login", #"{"email":"$","password":"not this one"}"#, by: [.email]),
            CallByName("POST", "/v1/auth/login", #"{"email":"$","code":"000000"}"#, by: [.email]),
        ],
        "setPassword": [
            CallByName(
                "POST", "/v1/auth/password", #"{"username":"$","code":"0000-0000-0000-0000","new":"long enough"}"#,
                by: [.username]),
            CallByName(
                "POST", "/v1/auth/password", #"{"email":"$","code":"0000-0000-0000-0000","new":"long enough"}"#,
                by: [.email]),
            CallByName(
                "POST", "/v1/auth/password", #"{"username":"$","code":"000000","new":"long enough"}"#,
                by: [.username]),
            CallByName(
                "POST", "/v1/auth/password", #"{"email":"$","code":"000000","new":"long enough"}"#, by: [.email]),
        ],
        "putEmail": [CallByName("PUT", "/v1/users/me/email", #"{"email":"$"}"#, by: [.email])],
        "searchUsers": [CallByName("GET", "/v1/users?query=$")],
        "getUser": [.byID("GET", "/v1/users/$")],
        "putBlock": [.byID("PUT", "/v1/users/me/blocks/$")],
        "deleteBlock": [.byID("DELETE", "/v1/users/me/blocks/$")],
        "createThread": [
            .byID("POST", "/v1/threads", #"{"kind":"direct","members":["$"]}"#),
            .byID("POST", "/v1/threads", #"{"kind":"group","title":"T","members":["$"]}"#),
        ],
        "putMember": [.byID("PUT", "/v1/threads/#/members/$", "{}")],
        "deleteMember": [.byID("DELETE", "/v1/threads/#/members/$", hidesIDs: true)],
        "sendMessage": [
            .byID("POST", "/v1/threads/#/messages", #"{"payload":{"text":"hi"},"mentions":["$"]}"#, hidesIDs: true)
        ],
        "createReport": [.byID("POST", "/v1/reports", #"{"user_id":"$","reason":"spam"}"#)],
    ]
}
