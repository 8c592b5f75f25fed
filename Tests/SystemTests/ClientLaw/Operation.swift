// One action of a person on a device, described so that it can be repeated when other actions are left out.

import TestSupport

/// One operation of a history. Threads and messages have the number of the operation that created them.
struct Operation: Sendable, CustomStringConvertible {
    enum Kind: Sendable {
        /// A large group has further silent members, so that receipts are combined.
        case openGroup(with: [Int], invite: Bool, isLarge: Bool)
        case openRoom
        /// Changes the name, image or status.
        case profile
        case openDirect(with: Int, invite: Bool)
        case thread(Int, ThreadKind)
        case message(in: Int, Int, MessageKind)
        /// Follows the log for at most `pages` pages of `limit` events.
        case poll(pages: Int, limit: Int, waitS: Int)
        /// Forgets everything and loads the inbox again.
        case reload
        /// Fetches messages before the first one that the device has.
        case scroll(Int, limit: Int)
        /// Disconnects.
        case disconnect
        /// Compares what the device shows with a fresh inbox.
        case check
    }

    enum ThreadKind: Sendable {
        case send(replyTo: Int?, mentions: [Int], expiresInS: Int?)
        /// Deletes the thread's last message, which may be a system message.
        case deleteLast(forAll: Bool)
        case read(Int)
        case delivered(Int)
        case unread(from: Int)
        case settings(String)
        case rename
        case image
        case retention(String)
        case invite(Int)
        case add(Int)
        case join
        case leave
        case remove(Int)
        case role(Int, String)
    }

    enum MessageKind: Sendable {
        case edit
        case react(String, put: Bool)
        case delete(forAll: Bool)
    }

    let number: Int
    let device: Int
    let node: Int
    let kind: Kind

    /// The thread that the operation is about; nil for actions that no other person sees.
    var thread: Int? {
        switch kind {
        case .thread(let thread, _), .message(in: let thread, _, _): thread
        case .openGroup, .openRoom, .openDirect: number
        case .profile, .poll, .reload, .scroll, .disconnect, .check: nil
        }
    }

    /// Whether what follows depends on the moment: messages that expire, or that the server forgets once delivered.
    var isTimed: Bool {
        switch kind {
        case .thread(_, .send(_, _, let expiresInS)): expiresInS != nil
        case .thread(_, .retention(let text)): !text.contains("forever")
        default: false
        }
    }

    /// The number of different names of operations that call the service.
    static let nameCount = 22

    /// The operation's kind without its parameters.
    var name: String {
        let text =
            switch kind {
            case .thread(_, let kind): String(describing: kind)
            case .message(in: _, _, let kind): String(describing: kind)
            default: String(describing: kind)
            }
        return String(text.prefix { $0 != "(" })
    }

    var description: String { "\(number): device \(device) at node \(node): \(kind)" }
}

/// The service's ids of people, threads and messages.
protocol Names {
    func user(_ person: Int) -> String
    /// The ids of the silent members.
    var population: [String] { get }
    /// Nil if the operation did not create a thread. `message` returns nil likewise.
    func thread(_ number: Int) -> String?
    func message(_ number: Int) -> String?
}

extension Operation {
    struct Call {
        let method: String
        let path: String
        var body: JSON?
    }

    /// The operation's request; nil if the operation needs a thread or message that does not exist.
    func call(_ names: some Names) -> Call? {
        func users(_ people: [Int]) -> JSON { .array(people.map { .string(names.user($0)) }) }
        switch kind {
        case .openGroup(let people, let invite, let isLarge):
            let others = users(people).items + (isLarge ? names.population.map { .string($0) } : [])
            return Call(
                method: "POST", path: "/v1/threads",
                body: ["kind": "group", "title": "G\(number)", "members": .array(others), "invite": .bool(invite)])
        case .openRoom:
            return Call(method: "POST", path: "/v1/rooms", body: ["title": .string(unique("Room \(number) "))])
        case .openDirect(let person, let invite):
            return Call(
                method: "POST", path: "/v1/threads",
                body: ["kind": "direct", "members": users([person]), "invite": .bool(invite)])
        case .thread(let thread, let kind):
            return names.thread(thread).flatMap { call(kind, "/v1/threads/\($0)", names) }
        case .message(let thread, let message, let kind):
            guard let thread = names.thread(thread), let message = names.message(message) else { return nil }
            return call(kind, "/v1/threads/\(thread)/messages/\(message)")
        case .profile:
            let key = ["name", "profile_image", "status_text"][number % 3]
            return Call(method: "PATCH", path: "/v1/users/me", body: .object([key: "https://example.com/\(number)"]))
        case .poll, .reload, .scroll, .disconnect, .check:
            return nil
        }
    }

    private func call(_ kind: ThreadKind, _ path: String, _ names: some Names) -> Call? {
        switch kind {
        case .send(let replyTo, let mentions, let expiresInS):
            var body: [String: JSON] = ["payload": ["text": "\(number)"]]
            if let replyTo, let message = names.message(replyTo) { body["reply_to"] = .string(message) }
            if !mentions.isEmpty { body["mentions"] = .array(mentions.map { .string(names.user($0)) }) }
            if let expiresInS { body["expires_in_s"] = .init(expiresInS) }
            return Call(method: "POST", path: path + "/messages", body: .object(body))
        case .deleteLast: return nil
        case .read(let seq): return Call(method: "PUT", path: path + "/receipts", body: ["read": .init(seq)])
        case .delivered(let seq): return Call(method: "PUT", path: path + "/receipts", body: ["delivered": .init(seq)])
        case .unread(let seq): return Call(method: "PUT", path: path + "/unread", body: ["from": .init(seq)])
        case .settings(let text):
            return Call(method: "PATCH", path: path + "/settings", body: try? JSON(parsing: .init(text.utf8)))
        case .rename: return Call(method: "PATCH", path: path, body: ["title": .string(unique("T\(number) "))])
        case .image:
            return Call(method: "PATCH", path: path, body: ["image": "https://example.com/\(number).png"])
        case .retention(let text):
            return Call(method: "PATCH", path: path, body: try? JSON(parsing: .init(#"{"retention":\#(text)}"#.utf8)))
        case .invite(let person):
            return Call(method: "PUT", path: path + "/members/\(names.user(person))", body: ["status": "invited"])
        case .add(let person): return Call(method: "PUT", path: path + "/members/\(names.user(person))", body: [:])
        case .join: return Call(method: "PUT", path: path + "/members/me", body: ["status": "joined"])
        case .leave: return Call(method: "DELETE", path: path + "/members/me")
        case .remove(let person): return Call(method: "DELETE", path: path + "/members/\(names.user(person))")
        case .role(let person, let role):
            return Call(method: "PUT", path: path + "/members/\(names.user(person))", body: ["role": .string(role)])
        }
    }

    private func call(_ kind: MessageKind, _ path: String) -> Call {
        switch kind {
        case .edit: Call(method: "PATCH", path: path, body: ["payload": ["text": "\(number)"]])
        case .react(let emoji, let put):
            Call(method: put ? "PUT" : "DELETE", path: path + "/reactions/\(percentEncoded(emoji))")
        case .delete(let forAll): Call(method: "DELETE", path: path + "?for=\(forAll ? "everyone" : "me")")
        }
    }
}
