// What a device does for each command.

import Foundation
import Parley

struct Device: Sendable {
    /// What a command lacks: there is no such thread or message. The test counts it and continues.
    struct Nothing: Error {}

    /// A message is sent, or being sent, and cannot be taken back.
    struct TooLate: Error {}

    let parley: ParleyClient
    let requests: OpenRequests
    let store: URL
    let user: UserID
    let shown = Shown()

    init(_ parley: ParleyClient, requests: OpenRequests, store: URL, user: UserID) {
        self.parley = parley
        self.requests = requests
        self.store = store
        self.user = user
    }

    /// Carries out a command. Returns what the test needs to know, or `error`: a code of the contract, or a text.
    func answer(_ command: JSONValue) async -> JSONValue {
        var answer: JSONValue
        do {
            answer = .object(try await carryOut(command))
        } catch is Nothing {
            answer = ["error": "nothing"]
        } catch let error as ParleyError {
            answer = ["error": .string(error.code?.rawValue ?? "\(error)")]
        } catch {
            answer = ["error": .string("\(error)")]
        }
        answer["id"] = command["id"]
        return answer
    }

    private func carryOut(_ command: JSONValue) async throws -> [String: JSONValue] {
        switch command["do"]?.string {
        case "idle": return try await waitUntilIdle(within: .seconds(command["seconds"]?.int ?? 60))
        case "dump": return try await dump()
        case "state": return ["state": .string("\(parley.currentStatus), waits for \(requests.lines)")]
        case "group": return try await openGroup(command)
        case "direct": return ["thread": .string(try await parley.openDirect(with: command.person).id.rawValue)]
        case "room":
            return ["thread": .string(try await parley.joinRoom(title: command.text).id.rawValue)]
        case "profile": try await parley.updateProfile(statusText: .set(command.text))
        case "block": try await parley.block(command.person)
        case "unblock": try await parley.unblock(command.person)
        case "cancel", "retry": return try await changeOutbox(command)
        default: return try await carryOutInThread(command)
        }
        return [:]
    }

    private func openGroup(_ command: JSONValue) async throws -> [String: JSONValue] {
        let members = (command["members"]?.array ?? []).compactMap(\.string).map(UserID.init(rawValue:))
        return ["thread": .string(try await parley.createGroup(title: command.text, members: members).id.rawValue)]
    }

    private func changeOutbox(_ command: JSONValue) async throws -> [String: JSONValue] {
        guard let message = pick(command["message"], from: try await parley.outbox().current) else { throw Nothing() }
        if command["do"] == "retry" {
            try await message.retry()
        } else if try await !message.cancel() {
            throw TooLate()
        }
        return ["message": .string(message.id.rawValue)]
    }

    private func carryOutInThread(_ command: JSONValue) async throws -> [String: JSONValue] {
        guard let row = pick(command["thread"], from: try await parley.inbox().current) else { throw Nothing() }
        let thread = parley.thread(row.id)
        var answer: [String: JSONValue] = ["thread": .string(row.id.rawValue)]
        // A place near the end of the thread.
        let seq = max(1, row.thread.head.advanced(by: -(command["back"]?.int ?? 0)))
        switch command["do"]?.string {
        case "send": answer["message"] = .string(try await send(command, in: thread))
        case "edit", "delete", "react", "unreact": try await change(command, in: thread)
        case "read": try await thread.markRead(through: seq)
        case "unread": try await thread.markUnread(from: seq)
        case "settings": try await setSettings(command, in: thread, seq: seq)
        case "rename": try await thread.update(title: .set(command.text))
        case "add": try await thread.add(command.person)
        case "invite": try await thread.add(command.person, invite: true)
        case "remove": try await thread.remove(command.person)
        case "role": try await thread.setRole(Role(rawValue: command.text), of: command.person)
        case "join": try await thread.join()
        case "leave": try await thread.leave()
        case "typing": try await thread.sendTyping()
        case "draft": try await thread.setDraft(command.text)
        case "members": answer["count"] = .integer(Int64(try await thread.members().current.count))
        case "earlier": try await loadEarlier(in: thread)
        case "timeline": shown.wish(row.id)
        default: throw Nothing()
        }
        return answer
    }

    private func send(_ command: JSONValue, in thread: ChatThread) async throws -> String {
        let file = command["file"]?.string.map {
            OutgoingFile.data(Data($0.utf8), name: "note.txt", contentType: "text/plain")
        }
        let target = command["reply"] == nil ? nil : try? await message(command["reply"], in: thread)
        let sent = try await thread.send(
            .text(command.text), attachments: file.map { [$0] } ?? [], replyTo: target?.id,
            mentions: (command["mentions"]?.array ?? []).compactMap(\.string).map(UserID.init(rawValue:)),
            expiresIn: command["seconds"]?.int.map { .seconds($0) })
        return sent.id.rawValue
    }

    private func change(_ command: JSONValue, in thread: ChatThread) async throws {
        let message = try await message(command["message"], in: thread, isOwn: command["do"] == "edit")
        switch command["do"]?.string {
        // The text that was sent stays in it, so that the test finds the message again.
        case "edit": try await thread.edit(message.id, text: "\(message.text ?? "") \(command.text)")
        case "delete": try await thread.delete(message.id, for: command["everyone"] == true ? .everyone : .me)
        case "react": try await thread.react(command.text, to: message.id)
        default: try await thread.unreact(command.text, to: message.id)
        }
    }

    private func setSettings(_ command: JSONValue, in thread: ChatThread, seq: Seq) async throws {
        let isOn = command["on"] == true
        switch command["setting"]?.string {
        case "muted":
            try await thread.updateSettings(mute: .set(isOn ? .until(Date(timeIntervalSince1970: 2e9)) : nil))
        case "archived": try await thread.updateSettings(isArchived: isOn)
        case "pinned": try await thread.updateSettings(isPinned: isOn)
        default: try await thread.updateSettings(hiddenBeforeSeq: isOn ? seq : 0)
        }
    }

    private func loadEarlier(in thread: ChatThread) async throws {
        let timeline = thread.timeline(around: .newest)
        _ = await timeline.snapshot()
        try await timeline.loadEarlier(20)
    }

    // MARK: Picking

    private func pick<Value>(_ number: JSONValue?, from values: [Value]) -> Value? {
        values.isEmpty ? nil : values[(number?.int ?? 0) % values.count]
    }

    /// One of the latest messages that are shown and not deleted.
    private func message(_ number: JSONValue?, in thread: ChatThread, isOwn: Bool = false) async throws -> Message {
        let messages = await thread.timeline(around: .newest).snapshot().compactMap(\.message).filter { message in
            !message.isDeleted && message.text != nil && (!isOwn || message.sender?.id == user)
        }
        guard let message = pick(number, from: messages.suffix(12).reversed()) else { throw Nothing() }
        return message
    }
}

extension JSONValue {
    var text: String { self["text"]?.string ?? "" }
    var person: UserID { UserID(rawValue: self["person"]?.string ?? "") }
}

extension TimelineRow {
    var message: Message? { if case .message(let message, _) = self { message } else { nil } }
}
