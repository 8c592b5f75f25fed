// Messages with attachments: what is stored, retries, edits, forwarding.
import Domain
import Store
import TestSupport
import Testing

@Suite("Attachments of messages", .timeLimit(.minutes(1)))
struct AttachmentsOfMessages {
    @Test("are stored and published with all that is needed to draw them")
    func embedded() async throws {
        try await AttachmentDatabase.run { database in
            let owner = try await database.user()
            let thread = try await database.thread(of: owner)
            let job = try await database.uploaded([1, 2, 3], by: owner)
            var result = AttachmentDatabase.checked([1, 2, 3])
            (result.width, result.height, result.thumbhash) = (40, 30, [0xfb, 0xff])
            result.thumbnail = StoredVariant(mediaType: "image/jpeg", byteCount: 1, digest: [4])
            try await database.store.putChunk([1], number: 0, of: .thumbnail, job)
            try await database.store.finishAttachment(job, result)
            let other = try await database.attachment(of: owner, type: "application/zip")
            let message = try await database.send([other, job.attachment], to: thread, by: owner, text: "é\u{1F600}")
            let expected =
                #"{"text":"é😀","attachments":[{"id":"\#(other)","name":"a.png","#
                + #""content_type":"application/zip","size":7,"thumbnail":false},"#
                + #"{"id":"\#(job.attachment)","name":"a.png","#
                + #""content_type":"image/png","size":3,"width":40,"height":30,"thumbhash":"+/8=","thumbnail":true}]}"#
            #expect(try await database.message(message, in: thread, for: owner).contains(#""payload":\#(expected)"#))
            #expect(
                try await database.sql(
                    "select body from events where type = 'message.created' order by pos desc limit 1"
                )
                .contains(expected))
        }
    }

    @Test("a retry is the same message, also after an edit; other attachments are another message")
    func retries() async throws {
        try await AttachmentDatabase.run { database in
            let owner = try await database.user()
            let thread = try await database.thread(of: owner)
            let (first, second) = (try await database.attachment(of: owner), try await database.attachment(of: owner))
            let message = try await database.send([first, second], to: thread, by: owner)
            for _ in 0..<2 {
                try await database.send([first, second], to: thread, by: owner, id: message)
                for others in [[first], [second, first], []] {
                    await #expect { try await database.send(others, to: thread, by: owner, id: message) } throws: {
                        ($0 as? Problem)?.code == .idTaken
                    }
                }
                _ = try await database.store.editMessage(
                    message, in: thread, by: owner, payload: AttachmentDatabase.payload([first]))
            }
            try await database.store.deleteMessage(message, in: thread, by: owner)
            try await database.sweep()
            // Nothing is left to compare with.
            try await database.send([first, second], to: thread, by: owner, id: message)
        }
    }

    @Test("in a batch, one item's refusal concerns no other, and a repeated id is judged by the first")
    func batches() async throws {
        try await AttachmentDatabase.run { database in
            let owner = try await database.user()
            let thread = try await database.thread(of: owner)
            let (file, unready) = (
                try await database.attachment(of: owner), try await database.uploaded([1], by: owner).attachment
            )
            func new(_ attachments: [AttachmentID], id: MessageID = .make()) -> NewMessage {
                let payload = AttachmentDatabase.payload(attachments)
                return NewMessage(
                    id: id, thread: thread, sender: owner, type: "message", payload: payload.text,
                    attachments: payload.attachments)
            }
            let twice = MessageID.make()
            let outcomes = try await database.outcomes(of: [
                new([]), new([.make()]), new([file]), new([unready]), new([file], id: twice), new([], id: twice),
                new([file], id: twice), new([file, .make(), unready]),
            ])
            #expect(
                outcomes.map(\.word) == [
                    "created", "invalid", "created", "attachment_not_ready", "created", "id_taken", "exists",
                    "attachment_not_ready",
                ])
            #expect(try await database.sql("select count(*) from attachment_uses") == "2")
        }
    }

    @Test("an edit keeps, drops and brings back attachments; the same payload changes nothing")
    func edits() async throws {
        try await AttachmentDatabase.run { database in
            let (owner, member) = (try await database.user(), try await database.user())
            let thread = try await database.thread(of: owner, [member])
            let (first, second) = (try await database.attachment(of: owner), try await database.attachment(of: owner))
            let message = try await database.send([first], to: thread, by: owner)
            func edit(_ attachments: [AttachmentID]) async throws -> String {
                let edited = try await database.store.editMessage(
                    message, in: thread, by: owner, payload: AttachmentDatabase.payload(attachments))
                return String(decoding: edited.message.utf8, as: UTF8.self)
            }
            #expect(try await edit([first]).contains(#""edited_at":null"#))
            #expect(try await edit([first, second]).contains(#""size":7"#))
            #expect(try await database.refusal(of: second, to: member) == nil)
            _ = try await edit([])
            #expect(try await database.refusal(of: first, to: member) == .attachmentNotFound)
            #expect(try await database.sql("select count(*) from attachment_uses where is_current") == "0")
            // The file stays for the earlier version.
            try await database.sweep()
            _ = try await edit([first])
            #expect(try await database.refusal(of: first, to: member) == nil)
            for (file, code) in [
                (AttachmentID.make(), ProblemCode.invalid),
                (try await database.attachment(of: member), .invalid),
                (try await database.uploaded([1], by: owner).attachment, .attachmentNotReady),
            ] {
                await #expect { _ = try await edit([first, file]) } throws: { ($0 as? Problem)?.code == code }
            }
            try await database.store.deleteMessage(message, in: thread, by: owner)
            try await database.sweep()
            #expect(try await database.sql("select count(*) from attachments where owner_id = '\(owner)'") == "1")
        }
    }

    @Test("without a text alert with the file's name, and do not enter the search index")
    func alertsAndSearch() async throws {
        try await AttachmentDatabase.run { database in
            let (owner, member) = (try await database.user(), try await database.identity())
            let thread = try await database.thread(of: owner, [member.user])
            let file = try await database.attachment(of: owner)
            try await database.send([file], to: thread, by: owner, text: nil)
            try await database.sql(
                """
                insert into push_targets (
                    session_id, user_id, platform, token, token_digest, environment, registered_at, decided_pos)
                values ('\(member.session)', '\(member.user)', 'apns', 'a', 'a', 'production', now(), 0);
                insert into push_jobs (session_id, pos, id, platform, thread_id, seq, at, due_at)
                select '\(member.session)', m.pos, m.id, 'apns', m.thread_id, m.seq, now(), now()
                from messages m where m.type = 'message'
                """)
            #expect(try await database.sql("select body from push_claim('apns', 10, 60, 3600)") == "a.png")
            // The worker of the index gets through, and finds no words.
            try await database.sql("select search_index(100)")
            #expect(try await database.sql("select count(*) from message_words") == "0")
        }
    }

    @Test("forwarding is a second use: the file stays until the last message is deleted")
    func forwarding() async throws {
        try await AttachmentDatabase.run { database in
            let (owner, member, stranger) = (
                try await database.user(), try await database.user(), try await database.user()
            )
            let first = try await database.thread(of: owner, [member])
            let second = try await database.thread(of: member, [stranger])
            let file = try await database.attachment(of: owner)
            let message = try await database.send([file], to: first, by: owner)
            let forwarded = try await database.send([file], to: second, by: member)
            try await database.store.deleteMessage(message, in: first, by: owner)
            try await database.sweep()
            #expect(try await database.refusal(of: file, to: owner) == .attachmentNotFound)
            #expect(try await database.refusal(of: file, to: stranger) == nil)
            await #expect { try await database.store.deleteAttachment(file, owner: owner) } throws: {
                ($0 as? Problem)?.code == .attachmentNotFound
            }
            try await database.store.deleteMessage(forwarded, in: second, by: member)
            #expect(try await database.refusal(of: file, to: stranger) == .attachmentNotFound)
            try await database.sweep()
            #expect(try await database.sql("select count(*) from attachments") == "0")
        }
    }

    @Test("a file counts for the sender of the oldest message that has it, once its owner has none")
    func owners() async throws {
        try await AttachmentDatabase.run { database in
            let (owner, second, third) = (
                try await database.user(), try await database.user(), try await database.user()
            )
            let thread = try await database.thread(of: owner, [second, third])
            let file = try await database.attachment(of: owner)
            func account() async throws -> String {
                try await database.sql(
                    "select owner_id, stored_bytes, state from attachments order by stored_bytes desc")
            }
            let messages = [
                try await database.send([file], to: thread, by: owner),
                try await database.send([file], to: thread, by: owner),
                try await database.send([file], to: thread, by: third),
                try await database.send([file], to: thread, by: second),
            ]
            try await database.store.deleteMessage(messages[0], in: thread, by: owner)
            #expect(try await account() == "\(owner)|7|2")
            try await database.store.deleteMessage(messages[1], in: thread, by: owner)
            #expect(try await account() == "\(third)|7|2")
            for user in [owner, second, third] { #expect(try await database.refusal(of: file, to: user) == nil) }
            // The former owner has room again.
            var rules = AttachmentDatabase.rules
            rules.quotaByteCount = 7
            _ = try await database.store.beginUpload(
                .make(), owner: owner, name: "", declaredType: nil, length: 7, rules: rules)
            try await database.store.deleteMessage(messages[2], in: thread, by: third)
            #expect(try await account() == "\(second)|7|2\n\(owner)|0|0")
            try await database.store.deleteMessage(messages[3], in: thread, by: second)
            try await database.sweep()
            #expect(try await account() == "\(owner)|0|0")
        }
    }

    @Test("a file stays its owner's while a profile or a thread shows it")
    func pictures() async throws {
        try await AttachmentDatabase.run { database in
            let (owner, member) = (try await database.user(), try await database.user())
            let thread = try await database.thread(of: owner, [member])
            let file = try await database.attachment(of: owner)
            let message = try await database.send([file], to: thread, by: owner)
            try await database.send([file], to: thread, by: member)
            try await database.sql(
                "insert into attachment_uses (attachment_id, kind, holder_id) values ('\(file)', 'profile', '\(owner)')"
            )
            try await database.store.deleteMessage(message, in: thread, by: owner)
            #expect(try await database.sql("select owner_id from attachments") == "\(owner)")
            try await database.sql("select attachment_forget_account('\(owner)')")
            #expect(try await database.sql("select owner_id from attachments") == "\(member)")
        }
    }
}
