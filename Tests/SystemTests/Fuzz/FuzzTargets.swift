// The people, threads and messages that fuzzed requests refer to, so that many of them pass the first checks.

import Foundation
import TestSupport
import Testing

/// Two people's chat. Some requests sign people out or leave threads, so it is created again from time to time.
struct FuzzTargets: Sendable {
    let ann: Person
    let bob: Person
    let thread: String
    let message: String
    let cursor: String

    init(_ caller: some Caller) async throws {
        ann = try await caller.register("Ann")
        bob = try await caller.register("Bob")
        thread = try await caller.thread("group", by: ann, with: [bob])
        message = try await caller.sent("hi", in: thread, as: ann)
        cursor = try await caller.cursor(of: ann)
    }

    /// Legal values for a parameter of a path or a member of a body.
    func values(for name: String) -> [String] {
        switch name {
        case "thread_id", "thread": [thread]
        case "message_id", "reply_to", "before", "after": [message, "1"]
        case "user_id", "members", "mentions": [bob.id, ann.id, "me"]
        case "session_id": [bob.session, ann.session, "current"]
        case "emoji": ["%E2%9C%85", "👍"]
        case "cursor", "page": [cursor]
        case "username": [unique("fuzz"), ann.username]
        case "password": [ann.password]
        case "token": [ann.token]
        case "limit", "seq", "read", "delivered", "from": ["1", "2", "200"]
        case "wait": ["0"]
        default: [thread, message, ann.id]
        }
    }

    /// Legal bodies for the calls. A call that is missing from this list gets any of them, with other members.
    var bodies: [String: [String]] {
        let thread = "/v1/threads/{thread_id}"
        return [
            "POST \(thread)/messages": [
                #"{"payload":{"text":"hi"}}"#,
                #"{"id":"\#(newID())","type":"message","payload":{"text":"é"},"reply_to":"\#(message)","mentions":[]}"#,
                #"{"type":"location","payload":{"latitude":1,"longitude":2,"accuracy_m":3,"label":"x"},"expires_in_s":9}"#,
            ],
            "PATCH \(thread)/messages/{message_id}": [#"{"payload":{"text":"ho"}}"#],
            "POST /v1/threads": [
                #"{"kind":"group","title":"T","members":["\#(bob.id)"],"invite":false,"retention":{"keep":"forever"}}"#,
                #"{"kind":"direct","members":["\#(bob.id)"]}"#, #"{"kind":"room","title":"\#(unique("Room "))"}"#,
            ],
            "POST /v1/rooms": [#"{"title":"\#(unique("Room "))"}"#],
            "PATCH \(thread)": [#"{"title":"T","image":null,"retention":{"keep":"seconds","seconds":60}}"#],
            "PUT \(thread)/receipts": [#"{"read":1}"#, #"{"delivered":1}"#], "PUT \(thread)/unread": [#"{"from":1}"#],
            "POST /v1/receipts": [#"{"receipts":[{"thread_id":"\#(self.thread)","read":1,"delivered":1}]}"#],
            "POST /v1/auth/register": [
                #"{"username":"\#(unique("fuzz"))","password":"correct horse","name":"N","device_name":"d"}"#,
                #"{"email":"a@b.example","name":"N"}"#,
            ],
            "POST /v1/auth/login": [
                #"{"username":"\#(ann.username)","password":"\#(ann.password)"}"#, #"{"token":"a.b.c"}"#,
                #"{"email":"a@b.example","code":"123456"}"#,
            ],
            "POST /v1/auth/code": [#"{"email":"a@b.example"}"#],
            "PATCH /v1/users/me": [
                #"{"name":"N","profile_image":null,"status_text":"s","preferences":{"push":"full"}}"#
            ],
            "PUT \(thread)/members/{user_id}": [
                #"{"role":"admin","status":"joined"}"#, #"{"status":"invited"}"#, "{}",
            ],
            "PATCH \(thread)/settings": [
                #"{"muted_until":"2030-01-01T00:00:00Z","archived":true,"pinned":false,"notify":"none","hidden_before_seq":1}"#
            ],
        ]
    }
}
