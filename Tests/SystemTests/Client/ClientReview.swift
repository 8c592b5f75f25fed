// Messages of the client that the operator's policy sends to review or denies.

import Foundation
import Parley
import TestSupport
import Testing

extension SystemTests {
    @Suite("The client and the policy", .timeLimit(.minutes(3)))
    struct ClientReview {
        private static let adminToken = "admin-of-the-review"

        @Test(
            "a message under review waits, is not repeated, and is sent once it is approved; a denial shows its detail"
        )
        func review() async throws {
            let policy = try await PolicyServer.start()
            let database = try await MigratedDatabase.create()
            let node = try await Node.start(
                database: database,
                settings: [
                    "PARLEY_ADMIN_TOKEN": Self.adminToken, "PARLEY_POLICY_URL": policy.url,
                    "PARLEY_POLICY_TIMEOUT_MS": "5000",
                ])
            let pair = try await AnnAndBen.meet(at: node.address)
            let file = OutgoingFile.data(Data("a".utf8), name: "a.txt")
            let pending = try await pair.thread.send(.text("review this"), attachments: [file])
            try await pending.states.wait("pending") { $0 == .pending }
            let next = try await pair.thread.send(.text("next"))
            try await next.states.wait("sent") { $0 == .sent(1) }
            #expect(try await pair.storedTexts() == ["next"])
            #expect(try await pair.thread.summary.current?.unsent == InboxRow.Unsent.none)
            let denied = try await pair.thread.send(.text("deny this"))
            try await denied.states.wait("a denial") {
                guard case .failed(let error) = $0 else { return false }
                return error.code == "too_rude" && error.detail == "Please be polite."
            }
            // It still waits after a restart of the app.
            let device = try await pair.device.restarted()
            let outbox = Shown(device.parley.outbox())
            let unsent = try await outbox.wait("both messages") { $0.map(\.text) == ["review this", "deny this"] }
            #expect(unsent.first?.state == .pending)
            #expect(try policy.questions(about: "review this").count == 1)

            let admin = Person(id: "", username: "", password: "", session: "", token: Self.adminToken)
            let client = Client(address: node.address)
            let path = "/v1/admin/reviews/\(pending.id.rawValue)"
            #expect(try await client.put(path, ["action": "approve"], as: admin).status == 200)
            try await outbox.wait("only the denied message") { $0.map(\.text) == ["deny this"] }
            #expect(try await pair.storedTexts() == ["next", "review this"])

            do {
                try await device.parley.thread(pair.thread.id).edit(pending.id, text: "review that")
                Issue.record("an edit that waits is no edit")
            } catch let error as ParleyError {
                #expect(error.code == .pendingReview && error.problem?.status == 202)
            }
            try await node.stop()
        }
    }
}
