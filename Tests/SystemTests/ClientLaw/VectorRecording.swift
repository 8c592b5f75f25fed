// Records what a device received and showed, for Tests/ClientVectors.

import Foundation
import Testing

/// The steps of a client vector: what a client receives, and what it shows then. Tests/ClientVectors/README.md describes
/// the format.
struct VectorRecording: Sendable {
    /// What no fold derives from events alone: the lists of members that the client has loaded, and the account.
    struct Details: Sendable {
        let members: [String: JSON]
        let account: JSON
        /// The history of each joined thread.
        let histories: [String: [JSON]]
    }

    private(set) var steps: [JSON] = []
    /// Threads whose members the client has loaded.
    private var memberThreads: Set<String> = []
    /// The threads as the last expectation has them, by id.
    private var expectedThreads: [String: JSON] = [:]

    /// Adds a step. A step without content is left out.
    mutating func add(_ kind: String, _ content: JSON) {
        if content == .array([]) { return }
        // A device that starts again forgets everything.
        if kind == "inbox", steps.last?.keys != ["expired"] { memberThreads = [] }
        if kind == "members", content["asked"] == .null, let thread = content["thread_id"].string {
            memberThreads.insert(thread)
        }
        // Two polls in a row are one step: how the events are distributed over polls makes no difference.
        if kind == "events", case .object(let last)? = steps.last, case .array(let earlier)? = last["events"] {
            steps[steps.count - 1] = ["events": .array(earlier + content.items)]
        } else {
            steps.append(.object([kind: content]))
        }
    }

    /// Loads what the server says of the members, the account and the messages.
    func details(of device: FoldingDevice, at caller: some Caller) async throws -> Details {
        let (person, fold) = (device.person, device.fold)
        var members: [String: JSON] = [:]
        for thread in memberThreads.intersection(fold.joinedThreads) {
            let path = "/v1/threads/\(thread)/members?limit=200"
            members[thread] = try await FoldingDevice.get(path, of: person, at: caller)["members"]
        }
        var histories: [String: [JSON]] = [:]
        for thread in fold.joinedThreads { histories[thread] = try await caller.history(of: thread, as: person) }
        return Details(
            members: members, account: try await Self.account(of: person, at: caller), histories: histories)
    }

    /// The profile and the ids of the people blocked.
    static func account(of person: Person, at caller: some Caller) async throws -> JSON {
        let blocks = try await FoldingDevice.get("/v1/users/me/blocks", of: person, at: caller)["blocks"].items
        let ids = blocks.compactMap { $0["user"]["id"].string }.sorted()
        let user = try await FoldingDevice.get("/v1/users/me", of: person, at: caller)
        return ["user": user, "blocked": .array(ids.map { .string($0) })]
    }

    /// Adds what a client shows now. Every stored message must be as the history has it.
    mutating func expect(_ fold: InboxFold, _ details: Details) {
        let inbox = fold.inbox
        var expected: [String: JSON] = ["unread_total": inbox["unread_total"]]
        expected["order"] = .array(inbox["threads"].items.map(\.["id"]))
        let threads = Dictionary(inbox["threads"].items.map { ($0["id"].string ?? "", $0) }) { $1 }
        expected["threads"] = .array(inbox["threads"].items.filter { expectedThreads[$0["id"].string ?? ""] != $0 })
        expectedThreads = threads
        var seqs: [String: JSON] = [:]
        for (thread, history) in details.histories {
            let stored = fold.messages(of: thread)
            let own = stored.map(\.["seq"])
            let right = history.filter { own.contains($0["seq"]) }
            #expect(zip(stored, right).allSatisfy(Self.isSame) && stored.count == right.count, "\(stored)\n\(right)")
            seqs[thread] = .array(own)
        }
        expected["seqs"] = .object(seqs)
        if !details.members.isEmpty { expected["members"] = .object(details.members) }
        expected["account"] = details.account
        // An expectation replaces an earlier one that nothing has followed.
        if steps.last?.keys == ["expect"] { return }
        steps.append(["expect": .object(expected)])
    }

    /// Adds all stored messages with their content to the last expectation.
    mutating func expectMessages(_ fold: InboxFold) {
        guard let last = steps.last, case .object(var expected) = last["expect"] else { return }
        let messages = fold.joinedThreads.map { ($0, JSON.array(fold.messages(of: $0))) }
        expected["messages"] = .object(Dictionary(messages) { $1 })
        steps[steps.count - 1] = ["expect": .object(expected)]
    }

    /// Whether a stored message is as the history has it, but for content that the server has forgotten.
    static func isSame(_ stored: JSON, _ right: JSON) -> Bool {
        guard case .object(let own) = stored, right["payload"] == .null, right["deleted_at"] == .null else {
            return stored == right
        }
        return .object(own.merging(["payload": .null]) { $1 }) == right
    }
}
