// The access matrix, cell by cell. The table is in Support/AccessMatrix.swift.

import TestSupport
import Testing

extension SystemTests {
    @Suite("Access to attachments", .timeLimit(.minutes(3)))
    struct AttachmentAccess {
        @Test("every role gets exactly the status of its cell", arguments: AttachmentStage.allCases)
        func matrix(stage: AttachmentStage) async throws {
            let scene = try await AccessScene(stage, try await TestNodes.shared())
            // The order of the calls matters: forwarding adds a use of the forwarder's own, so it comes late, and
            // giving up comes last.
            let calls = AttachmentCall.allCases.filter { $0 != .forward && $0 != .giveUp }
            var wrong: [String] = []
            func check(_ call: AttachmentCall, _ role: Role) async throws {
                let answer = try await scene.status(of: call, by: role)
                let expected = call.expected(role, stage)
                if answer.status != expected {
                    wrong.append(
                        "\(role.rawValue), \(call.rawValue): \(answer.status) instead of \(expected), \(answer.code ?? "-")"
                    )
                }
            }
            for role in Role.allCases { for call in calls { try await check(call, role) } }
            for role in Role.allCases { try await check(stage == .unused ? .giveUp : .forward, role) }
            if stage != .unused { for role in Role.allCases { try await check(.giveUp, role) } }
            #expect(wrong.isEmpty, "\(stage.rawValue): \(wrong.joined(separator: "; "))")
        }

        @Test("an owner who has left the thread loses access; one who forwarded keeps a use of their own")
        func ownerLeft() async throws {
            let people = try await TwoPeople()
            let caller = Connection(people.nodes.a.address)
            let id = try await caller.uploaded(TestFile.random(1_000).bytes, as: people.ann)["id"].string ?? ""
            let group = try await caller.thread("group", by: people.ann, with: [people.bob])
            _ = try await caller.shared([id], in: group, as: people.ann)
            let own = try await caller.thread("group", by: people.bob, with: [])
            _ = try await caller.shared([id], in: own, as: people.bob)
            #expect(try await caller.delete("/v1/threads/\(group)/members/me", as: people.ann).status == 204)
            #expect(try await caller.download(id, as: people.ann).status == 404)
            #expect(try await caller.delete("/v1/threads/\(group)/members/me", as: people.bob).status == 204)
            #expect(try await caller.download(id, as: people.bob).status == 200)
        }

        @Test("the export of an account lists its attachments")
        func export() async throws {
            let people = try await TwoPeople()
            let caller = Connection(people.nodes.a.address)
            let id =
                try await caller.uploaded(TestFile.random(1_000).bytes, name: "mine.bin", as: people.ann)["id"].string
                ?? ""
            let export = try await Client(address: people.nodes.a.address).get("/v1/users/me/export", as: people.ann)
            #expect(export.text.contains(id) && export.text.contains("mine.bin"), "\(export.text.prefix(500))")
            let other = try await Client(address: people.nodes.a.address).get("/v1/users/me/export", as: people.bob)
            #expect(!other.text.contains(id))
        }
    }
}
