// Every call once, with sample arguments: those of the examples in docs/openapi.yaml where it has some.

import Foundation

@testable import Parley

/// A call without its type.
struct SampleCall: Sendable, CustomStringConvertible {
    let operation: String
    let method: String
    let path: [String]
    let query: [String]
    let headers: [String: String]
    let body: Data?
    let accepted: Range<Int>
    let read: @Sendable (HTTPResponse) throws -> Void

    var description: String { operation }

    private init<Answer>(_ operation: String, _ call: Call<Answer>) {
        self.operation = operation
        method = call.method
        path = call.path
        query = call.query.map(\.name)
        headers = call.headers
        body = call.body
        accepted = call.accepted
        read = { _ = try call.read($0) }
    }

    private static let user: UserID = "018f3c2a-1234-7abc-8def-0123456789ab"
    private static let thread: ThreadID = "018f3c2a-1234-7abc-8def-0123456789ab"
    private static let message: MessageID = "018f3c2a-1234-7abc-8def-0123456789ab"
    private static let file: AttachmentID = "018f3c2a-4321-7abc-8def-0123456789ab"
    private static let bytes = Data("bytes".utf8)

    static let all = people + chats + files

    private static let people: [Self] = [
        .init("register", .auth.register(username: "ann", password: "correct horse", name: "Ann", deviceName: "phone")),
        .init("setPassword", .auth.setPassword(of: "ann@example.org", code: "123456", to: "battery staple")),
        .init("requestCode", .auth.requestCode(email: "ann@example.org")),
        .init(
            "login", .auth.signIn(.password(username: "ann", password: "correct horse"), deviceName: "laptop")),
        .init("logout", .auth.signOut()),
        .init("getService", .service.get()),
        .init("listSessions", .sessions.list(limit: 3, page: "p")),
        .init("deleteOtherSessions", .sessions.endOthers()),
        .init("deleteSession", .sessions.end("018f3c2a-0004-7abc-8def-0123456789ab")),
        .init("putPush", .push.register(.apns(token: "0123456789abcdef", environment: .production))),
        .init("deletePush", .push.remove()),
        .init("getWebPushKey", .push.webPushKey()),
        .init("getOwnAccount", .account.get()),
        .init(
            "updateOwnAccount",
            .account.update(statusText: .set("On the road"), preferences: .init(push: .senderOnly))),
        .init("eraseOwnAccount", .account.erase(erasingMessages: true)),
        .init("putEmail", .account.changeEmail(to: "ann@example.org")),
        .init("confirmEmail", .account.confirmEmail(code: "123456")),
        .init("deleteEmail", .account.removeEmail()),
        .init("changePassword", .account.changePassword(from: "correct horse", to: "battery staple")),
        .init("exportOwnAccount", .account.export()),
        .init("listBlocks", .account.blocks(limit: 3, page: "p")),
        .init("putBlock", .account.block(user)),
        .init("deleteBlock", .account.unblock(user)),
        .init("searchUsers", .users.search("an", limit: 3, page: "p")),
        .init("getUser", .users.get(user)),
        .init("createReport", .users.report(message, in: thread, reason: "Insults")),
    ]

    private static let chats: [Self] = [
        .init("createThread", .threads.create(.group, title: "Trip", members: [user], invite: true)),
        .init("getThread", .threads.get(thread)),
        .init("updateThread", .threads.update(thread, title: .set("Book Club"))),
        .init("joinRoom", .threads.joinRoom(title: "Book Club")),
        .init("searchRooms", .threads.rooms(matching: "book", limit: 3, page: "p")),
        .init("listMembers", .threads.members(of: thread, limit: 3, page: "p")),
        .init("putMember", .threads.setMember(.me, of: thread, status: .joined)),
        .init("deleteMember", .threads.removeMember(user, of: thread)),
        .init(
            "updateSettings",
            .threads.updateSettings(
                of: thread, mute: .set(.until(Date(timeIntervalSince1970: 1_796_083_200))), isPinned: true)),
        .init("sendMessage", .messages.send(.init(id: message, payload: .text("hi")), in: thread)),
        .init("listMessages", .messages.list(in: thread, before: .seq(42), after: .message(message), limit: 3)),
        .init("getMessage", .messages.get(message, in: thread)),
        .init("editMessage", .messages.edit(message, in: thread, payload: .text("hi there"))),
        .init("listEdits", .messages.edits(of: message, in: thread, limit: 3, page: "p")),
        .init("deleteMessage", .messages.delete(message, in: thread, for: .me)),
        .init("putReaction", .messages.react("👍", to: message, in: thread)),
        .init("deleteReaction", .messages.unreact("👍", to: message, in: thread)),
        .init("listReactions", .messages.reactions("👍", to: message, in: thread, limit: 3, page: "p")),
        .init("listReceipts", .messages.receipts(of: message, in: thread, limit: 3, page: "p")),
        .init("listCommands", .messages.commands(in: thread)),
        .init("searchMessages", .messages.search("lunch tom", in: thread, limit: 3, page: "p")),
        .init("putReceipt", .receipts.move(.init(thread: thread, read: 42))),
        .init("putReceipts", .receipts.move(all: [.init(thread: thread, read: 42)])),
        .init("putUnread", .receipts.markUnread(from: 42, in: thread)),
        .init("putTyping", .receipts.typing(in: thread)),
        .init("getInbox", .sync.inbox(unreadOnly: true, limit: 3, page: "p")),
        .init("sync", .sync.events(after: "c", wait: .seconds(5), limit: 3)),
    ]

    private static let files: [Self] = [
        .init("createAttachment", .attachments.create(bytes, name: "holiday.jpg")),
        .init("putAttachment", .attachments.put(bytes, as: file, name: "holiday.jpg")),
        .init("getAttachment", .attachments.file(file, bytes: 0..<5, tag: "\"tag\"")),
        .init("deleteAttachment", .attachments.delete(file)),
        .init("getUpload", .attachments.uploadState(file)),
        .init("appendUpload", .attachments.append(bytes, to: file, at: 5, isComplete: true, length: 10)),
        .init("getThumbnail", .attachments.file(file, variant: .thumbnail)),
        .init("putThumbnail", .attachments.setThumbnail(bytes, of: file)),
        .init("getAttachmentInfo", .attachments.info(file)),
        .init("linkAttachment", .attachments.link(file, variant: .thumbnail, validFor: .seconds(3600))),
        .init("receiveAttachment", .attachments.received(file)),
        .init("setMediaCookie", .sessions.mediaCookie()),
    ]

    /// Other forms of calls in `all`: of an operation that has several, and with other arguments.
    static let forms: [Self] = [
        .init("register", .auth.register(email: "ann@example.org", name: "Ann")),
        .init("register", .auth.register(email: "ann@example.org", name: "Ann", invitation: "parleyinvite_a")),
        .init("login", .auth.signIn(.password(username: "ann@example.org", password: "correct horse"))),
        .init("setPassword", .auth.setPassword(of: "ann", code: "K7QF-2M9X-4TDA-0ZRB", to: "battery staple")),
        .init("login", .auth.signIn(.code(email: "ann@example.org", code: "123456"))),
        .init("login", .auth.signIn(.delegated(token: "a.b.c"))),
        .init("putPush", .push.register(.fcm(token: "abc"))),
        .init("putPush", .push.register(.webPush(endpoint: "https://push.example.org/1", p256dh: "a", auth: "b"))),
        .init(
            "updateOwnAccount",
            .account.update(name: "Ann", profileImage: .set(nil), statusText: .set(nil), preferences: .init())),
        .init("createThread", .threads.create(.direct, members: [user])),
        .init("createThread", .threads.create(.group, custom: ["order": 42], labels: ["order"])),
        .init("updateOwnAccount", .account.update(custom: .set(["team": "blue"]))),
        .init("createThread", .threads.create(.room, title: "Book Club", retention: .seconds(60))),
        .init(
            "updateThread",
            .threads.update(thread, title: .set(nil), topic: .set(nil), image: .set(nil), retention: .set(nil))),
        .init("updateThread", .threads.update(thread, retention: .set(.untilDelivered))),
        .init("updateThread", .threads.update(thread, custom: .set(["order": 42]), labels: ["order"])),
        .init("updateSettings", .threads.updateSettings(of: thread, custom: .set(nil), labels: ["work", "urgent"])),
        .init("getInbox", .sync.inbox(labels: ["work", "urgent"])),
        .init("searchRooms", .threads.rooms(labels: ["help"])),
        .init("putMember", .threads.setMember(user, of: thread, role: .admin)),
        .init("updateSettings", .threads.updateSettings(of: thread, mute: .set(nil), isArchived: true)),
        .init("updateSettings", .threads.updateSettings(of: thread, notify: .mentions, hiddenBeforeSeq: 3)),
        .init(
            "sendMessage",
            .messages.send(
                .init(
                    id: message, payload: .text(nil, attachments: [attachment]), replyTo: message, mentions: [user],
                    expiresIn: .seconds(60)), in: thread)),
        .init(
            "sendMessage",
            .messages.send(.init(id: message, payload: .text(nil, attachments: [attachment])), in: thread)),
        .init(
            "sendMessage",
            .messages.send(
                .init(
                    id: message, type: .location,
                    payload: .location(.init(latitude: 52.52, longitude: 13.405, label: "Berlin"))), in: thread)),
        .init(
            "sendMessage",
            .messages.send(
                .init(id: message, type: .encrypted, payload: .encrypted(.init(ciphertext: bytes))), in: thread)),
        .init(
            "sendMessage",
            .messages.send(.init(id: message, type: "x-poll", payload: .other(["question": "Pizza?"])), in: thread)),
        .init("listMessages", .messages.list(in: thread, before: .time(.now))),
        .init("putAttachment", .attachments.begin(bytes, as: file, name: nil, length: 10)),
    ]

    private static let attachment = Attachment(id: file, name: "holiday.jpg", contentType: "image/jpeg", size: 48_211)
}
