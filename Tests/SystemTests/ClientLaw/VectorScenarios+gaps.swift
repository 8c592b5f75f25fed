// The stories about what a device lacks: holes, a cursor that is too old, pages.

import TestSupport
import Testing

extension VectorStage {
    mutating func playHoles() async throws {
        let thread = try await group("Trip", by: ann, with: [ben])
        var sent: [String] = []
        for number in 1...24 { sent.append(try await send("Number \(number)", in: thread, by: ann)) }
        // The device has not seen these messages come.
        try await reload()
        try await scroll(thread, before: 9, limit: 4)
        try await check()
        try await scroll(thread, limit: 3)
        try await edit(sent[9], "Not stored here", in: thread, by: ann)
        try await edit(sent[6], "Stored here", in: thread, by: ann)
        try await delete(sent[10], for: "everyone", in: thread, by: ann)
        try await check()
        // Between the newest page and the older one is a hole: the device must not show number 8 as the last message.
        for number in 21...23 { try await delete(sent[number], for: "me", in: thread, by: laptop) }
        try await check()
        try await scroll(thread, after: 8, limit: 6)
        try await scroll(thread, after: 14, limit: 50)
        try await check()
        try await scroll(thread, before: 5, limit: 10)
        for number in 11...20 { try await delete(sent[number], for: "me", in: thread, by: laptop) }
    }

    mutating func playOlder() async throws {
        let thread = try await group("Trip", by: ann, with: [ben, cleo])
        var sent: [String] = []
        for number in 1...8 { sent.append(try await send("Number \(number)", in: thread, by: ann)) }
        try await check()
        try await loadMembers(of: thread)
        // Messages and people change between the request and its answer.
        let page = try await askMessages(of: thread, before: 9)
        let members = try await askMembers(of: thread)
        try await edit(sent[0], "Edited", in: thread, by: ann)
        try await react("👍", to: sent[1], in: thread, by: laptop)
        try await delete(sent[2], for: "everyone", in: thread, by: ann)
        try await delete(sent[3], for: "me", in: thread, by: laptop)
        try await setMember(cleo, ["role": "admin"], in: thread, by: ann)
        try await call("PATCH", "/users/me", ["name": "Cleo C.", "status_text": "At sea"], as: cleo)
        try await call("PATCH", "/users/me", ["name": "Ann A."], as: ann)
        try await check()
        receive(page)
        receive(members)
        try await check()
        // Messages are hidden between the request and its answer.
        let shown = try await askMessages(of: thread, before: 9)
        try await settings(["hidden_before_seq": 7], in: thread)
        try await check()
        receive(shown)
        try await check()
        // Counts and the head, and a thread that the user has left.
        let threads = [try await askThread(thread)]
        try await send("Number 9", in: thread, by: cleo)
        try await check()
        threads.forEach { receive($0) }
        try await check()
        let brief = try await group("Brief", by: ann, with: [ben])
        try await check()
        let answers = [try await askThread(brief), try await askMessages(of: brief, before: 9)]
        try await call("DELETE", "/threads/\(brief)/members/me", as: laptop)
        try await check()
        answers.forEach { receive($0) }
        try await check()
        try await send("Number 10", in: thread, by: laptop)
    }

    mutating func playPages() async throws {
        var threads: [String] = []
        for number in 1...5 {
            threads.append(try await group("Group \(number)", by: ann, with: [ben]))
            try await send("Hello \(number)", in: threads[number - 1], by: ann)
        }
        let (stage, known) = (self, threads)
        var round = 0
        // Between two pages things happen in threads of earlier pages and of later ones.
        try await reloadInPages {
            round += 1
            for thread in known {
                try await stage.send("Between \(round)", in: thread, by: stage.ann, mentions: [stage.ben])
                if round == 2 { try await stage.read(2, in: thread, by: stage.laptop) }
            }
        }
        try await check()
        try await send("After", in: threads[0], by: ann)
    }
}
