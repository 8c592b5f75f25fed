// Threads that keep content until it is delivered: a message also waits for its files.
import Domain
import Store
import TestSupport
import Testing

@Suite("Files until delivered", .timeLimit(.minutes(1)))
struct FilesUntilDelivered {
    /// Ann sends, Ben and Cal receive; Ben has two devices.
    private struct Thread {
        let database: AttachmentDatabase
        let ann: Identity
        let ben: Identity
        let bensTablet: Identity
        let cal: Identity
        let id: ThreadID

        init(_ database: AttachmentDatabase) async throws {
            self.database = database
            (ann, ben, cal) = (
                try await database.identity(), try await database.identity(), try await database.identity()
            )
            bensTablet = try await database.device(of: ben.user)
            id = try await database.thread(of: ann.user, [ben.user, cal.user], retention: .untilDelivered)
        }

        /// All devices have all events.
        func deliver() async throws {
            for device in [ann, ben, bensTablet, cal] {
                try await database.sql(
                    """
                    select receipt_deliver(array['\(device.user)'::uuid], array[null::uuid],
                        array[(select max(pos) from events)], array['\(device.session)'::uuid])
                    """)
            }
            try await settle()
        }

        func settle() async throws {
            while try await database.store.sweepRetention(limit: 100, silentDays: 14, deliveredFirst: true) > 0 {}
            try await database.sweep()
        }

        func receive(_ file: AttachmentID, _ devices: Identity...) async throws {
            for device in devices { try await database.store.receivedAttachment(file, by: device) }
            try await settle()
        }

        /// Whether the message still has its content.
        func isKept(_ message: MessageID) async throws -> Bool {
            try await database.sql("select payload is not null from messages where id = '\(message)'") == "t"
        }
    }

    @Test("a message keeps its content until every device of the recipients has every file")
    func waits() async throws {
        try await AttachmentDatabase.run { database in
            let thread = try await Thread(database)
            let (ann, ben, tablet, cal) = (thread.ann, thread.ben, thread.bensTablet, thread.cal)
            let (first, second) = (
                try await database.attachment(of: ann.user), try await database.attachment(of: ann.user)
            )
            let message = try await database.send([first, second], to: thread.id, by: ann.user)
            let text = try await database.send([], to: thread.id, by: ann.user)
            #expect(
                try await database.store.openAttachment(first, variant: .original, for: .user(ben.user)).isTransient)
            // Files that arrive before all events do count, too.
            try await thread.receive(first, ben, ben)
            try await thread.deliver()
            #expect(try await !thread.isKept(text), "a message that waits for files delays no other")
            try await thread.receive(first, tablet, cal)
            try await thread.receive(second, ben, tablet)
            #expect(try await thread.isKept(message))
            #expect(try await database.refusal(of: first, to: cal.user) == nil)
            try await thread.receive(second, cal)
            #expect(try await !thread.isKept(message))
            #expect(try await database.sql("select count(*) from attachments") == "0")
            #expect(try await database.sql("select count(*) from attachment_receipts") == "0")
            #expect(try await database.sql("select count(*) from undelivered_files") == "0")
        }
    }

    @Test("devices that sign out, members who leave and silent devices are not waited for")
    func leavers() async throws {
        try await AttachmentDatabase.run { database in
            let thread = try await Thread(database)
            let file = try await database.attachment(of: thread.ann.user)
            let message = try await database.send([file], to: thread.id, by: thread.ann.user)
            try await thread.deliver()
            try await thread.receive(file, thread.ben)
            try await database.store.deleteMember(thread.cal.user, in: thread.id, by: thread.cal.user)
            try await thread.settle()
            #expect(try await thread.isKept(message))
            try await database.store.deleteSession(thread.bensTablet.session, of: thread.ben.user)
            try await thread.settle()
            #expect(try await !thread.isKept(message))

            let next = try await database.attachment(of: thread.ann.user)
            let silent = try await database.send([next], to: thread.id, by: thread.ann.user)
            try await thread.deliver()
            #expect(try await thread.isKept(silent))
            try await database.sql(
                """
                update sessions set last_used_at = now() - interval '15 days' where id = '\(thread.ben.session)';
                update undelivered_checks set due_at = now()
                """)
            try await thread.settle()
            #expect(try await !thread.isKept(silent))
        }
    }

    @Test("a member with only later devices needs the file on one of them")
    func laterDevices() async throws {
        try await AttachmentDatabase.run { database in
            let thread = try await Thread(database)
            let file = try await database.attachment(of: thread.ann.user)
            try await database.store.deleteSession(thread.cal.session, of: thread.cal.user)
            let message = try await database.send([file], to: thread.id, by: thread.ann.user)
            let later = try await database.device(of: thread.cal.user)
            try await thread.deliver()
            try await thread.receive(file, thread.ben, thread.bensTablet)
            #expect(try await thread.isKept(message))
            try await thread.receive(file, later)
            #expect(try await !thread.isKept(message))
        }
    }

    @Test("an edit that drops the file has nothing to wait for, and outside such threads nothing is recorded")
    func edited() async throws {
        try await AttachmentDatabase.run { database in
            let thread = try await Thread(database)
            let file = try await database.attachment(of: thread.ann.user)
            let message = try await database.send([file], to: thread.id, by: thread.ann.user)
            try await thread.deliver()
            #expect(try await thread.isKept(message))
            _ = try await database.store.editMessage(
                message, in: thread.id, by: thread.ann.user, payload: AttachmentDatabase.payload([], text: "ho"))
            try await thread.deliver()
            #expect(try await !thread.isKept(message))

            let plain = try await database.attachment(of: thread.ann.user)
            try await database.send([plain], to: try await database.thread(of: thread.ann.user), by: thread.ann.user)
            try await database.store.receivedAttachment(plain, by: thread.ann)
            #expect(try await database.sql("select count(*) from attachment_receipts") == "0")
            await #expect(throws: Problem.attachmentNotFound) {
                try await database.store.receivedAttachment(plain, by: thread.ben)
            }
        }
    }
}
