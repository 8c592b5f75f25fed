// Proofs that the background workers had their turn, so that a test can show what they did not do.

import TestSupport
import Testing

extension TestNodes {
    /// Gives up a new file at each node and waits until its row is gone. Nodes delete attachments in the order in which
    /// they became unused, so whatever was due before this call has been looked at when it returns.
    func waitForAttachmentSweep() async throws {
        for node in [a, b] {
            let caller = Connection(node.address)
            let owner = try await caller.register("Witness")
            let id = try await caller.uploaded(TestFile.random(1_000).bytes, as: owner)["id"].string ?? ""
            let given = try await caller.delete(Attachments.path(id), as: owner)
            guard given.status == 204 else { throw TimedOut(description: "\(given)") }
            try await eventually("the deletion of a file that nothing uses", within: .seconds(60)) {
                try await Psql.run("select count(*) from attachments where id = '\(id)'", conninfo: database) == "0"
            }
        }
    }

    /// Waits until devices are recorded to have all that was written in a thread, or all of one message, and a node has
    /// since looked for content that is no longer needed. A check that is due is removed by the transaction that looks.
    func waitUntilChecked(_ thread: String, have devices: [Person], message seq: Int? = nil) async throws {
        let sessions = devices.map { "'\($0.session)'" }.joined(separator: ", ")
        let content = seq.map { "and u.seq = \($0)" } ?? ""
        try await eventually("a check of the thread after \(devices.count) devices have its content") {
            let isChecked = try await Psql.run(
                """
                select (select count(*) from device_marks d where d.thread_id = '\(thread)' and d.session_id in (\(sessions))
                        and d.pos >= (select max(u.pos) from undelivered u where u.thread_id = '\(thread)' \(content)))
                    = \(devices.count)
                    and not exists (select from undelivered_checks c where c.thread_id = '\(thread)' and c.due_at <= now())
                """, conninfo: database)
            return isChecked == "t"
        }
    }
}
