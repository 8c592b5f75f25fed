// Who may see an attachment: cell by cell, who and in which state.
import Domain
import Store
import TestSupport
import Testing

@Suite("Access to attachments", .timeLimit(.minutes(1)))
struct AccessToAttachments {
    private enum Person: CaseIterable {
        case owner, member, stranger, invited, removed, left, joinedLater, blocked, deletedForMe, clearedHistory
    }

    private enum State: CaseIterable {
        case unused, used, deleted, expired, droppedByEdit, erased, forwardedAndDeleted
    }

    /// Those who may see the attachment in this state.
    private static func expected(in state: State) -> Set<Person> {
        switch state {
        case .unused: [.owner]
        case .used: [.owner, .member, .joinedLater, .blocked]
        case .deleted, .expired, .droppedByEdit, .erased: []
        case .forwardedAndDeleted: [.member, .stranger]
        }
    }

    @Test("of a file in a message follows the message", arguments: State.allCases)
    private func matrix(_ state: State) async throws {
        try await AttachmentDatabase.run { database in
            let group = try await Group(database)
            let message = state == .unused ? nil : try await group.send(expires: state == .expired)
            try await group.changeMembers(after: message)
            if let message { try await group.change(message, to: state) }
            for person in Person.allCases {
                let may = Self.expected(in: state).contains(person)
                #expect(
                    try await database.refusal(of: group.file, to: group[person]) == (may ? nil : .attachmentNotFound),
                    "\(person) × \(state)")
                // To send it needs the same right. Its owner has it as long as an earlier version of a message has the
                // file. Of a forwarded file the person who forwarded it is the owner now.
                let mayForward = may || (person == .owner && state == .droppedByEdit)
                #expect(try await group.canForward(person) == mayForward, "\(person) × \(state), forwarding")
            }
        }
    }

    /// A group with everyone in it who is to be, and a file of its owner.
    private struct Group {
        let database: AttachmentDatabase
        let thread: ThreadID
        let file: AttachmentID
        private let people: [Person: UserID]

        subscript(person: Person) -> UserID { people[person]! }

        init(_ database: AttachmentDatabase) async throws {
            var people: [Person: UserID] = [:]
            for person in Person.allCases { people[person] = try await database.user() }
            self.people = people
            self.database = database
            let later: Set<Person> = [.owner, .stranger, .invited, .joinedLater]
            thread = try await database.thread(
                of: people[.owner]!, Person.allCases.filter { !later.contains($0) }.map { people[$0]! })
            file = try await database.attachment(of: people[.owner]!)
            try await database.store.putBlock(of: self[.blocked], by: self[.owner], isBlocked: true)
        }

        func send(expires: Bool) async throws -> MessageID {
            try await database.send(
                [file], to: thread, by: self[.owner], expires: expires ? try KeptTime(.integer(60)) : nil)
        }

        /// What makes the people what they are.
        func changeMembers(after message: MessageID?) async throws {
            let store = database.store
            if let message {
                try await store.hideMessage(message, in: thread, from: self[.deletedForMe])
                try await database.send([], to: thread, by: self[.owner])
                try await database.sql(
                    """
                    update members set hidden_before_seq = 1 + (select seq from messages where id = '\(message)')
                    where user_id = '\(self[.clearedHistory])'
                    """)
            }
            try await store.deleteMember(self[.removed], in: thread, by: self[.owner])
            try await store.deleteMember(self[.left], in: thread, by: self[.left])
            for (person, status) in [(Person.joinedLater, MemberStatus.joined), (.invited, .invited)] {
                _ = try await store.putMember(
                    self[person], in: thread, by: self[.owner], role: nil, status: status, limits: Limits(),
                    rules: AdmissionRules())
            }
        }

        func change(_ message: MessageID, to state: State) async throws {
            let (store, owner) = (database.store, self[.owner])
            switch state {
            case .unused, .used: break
            case .deleted: try await store.deleteMessage(message, in: thread, by: owner)
            case .expired:
                try await database.sql("update message_expiries set expires_at = now()")
                #expect(try await store.sweepRetention(limit: 10, silentDays: 14, deliveredFirst: false) == 1)
            case .droppedByEdit:
                _ = try await store.editMessage(
                    message, in: thread, by: owner, payload: AttachmentDatabase.payload([], text: "ho"))
            case .erased:
                _ = try await store.eraseAccount(owner, erasesMessages: true)
                while try await store.sweepErasures(limit: 100) {}
            case .forwardedAndDeleted:
                let other = try await database.thread(of: self[.member], [self[.stranger]])
                try await database.send([file], to: other, by: self[.member])
                try await store.deleteMessage(message, in: thread, by: owner)
            }
        }

        /// Whether the person can send the file to a thread of their own.
        func canForward(_ person: Person) async throws -> Bool {
            do {
                try await database.send([file], to: try await database.thread(of: self[person]), by: self[person])
                return true
            } catch let problem as Problem where problem.code == .invalid {
                #expect(problem.fields.map(\.field) == ["payload.attachments"])
                return false
            } catch let problem as Problem where problem.code == .threadNotFound || problem.code == .userNotFound {
                // The account was erased.
                return false
            }
        }
    }

    @Test("of a file that is not ready is its owner's, who sees its state")
    func notReady() async throws {
        try await AttachmentDatabase.run { database in
            let (owner, other) = (try await database.user(), try await database.user())
            let file = try await database.uploaded([1], by: owner).attachment
            #expect(try await database.refusal(of: file, to: owner) == .attachmentNotReady)
            #expect(try await database.refusal(of: file, to: other) == .attachmentNotFound)
            _ = try await database.store.attachment(file, for: owner)
            await #expect(throws: Problem.attachmentNotFound) {
                _ = try await database.store.attachment(file, for: other)
            }
            let thread = try await database.thread(of: owner, [other])
            await #expect { try await database.send([file], to: thread, by: owner) } throws: {
                ($0 as? Problem)?.code == .attachmentNotReady
            }
            await #expect { try await database.send([file], to: thread, by: other) } throws: {
                ($0 as? Problem)?.code == .invalid
            }
        }
    }

    @Test("by a session ends with the session, and with a suspension")
    func sessions() async throws {
        try await AttachmentDatabase.run { database in
            let owner = try await database.identity()
            let file = try await database.attachment(of: owner.user)
            func open(_ session: SessionID) async throws -> StoredFile {
                try await database.store.openAttachment(file, variant: .original, for: .session(session))
            }
            #expect(try await open(owner.session).byteCount == 7)
            await #expect(throws: Problem.attachmentNotFound) { _ = try await open(.make()) }
            await #expect(throws: Problem.attachmentNotFound) {
                _ = try await open(try await database.identity().session)
            }
            try await database.sql("update users set suspended_at = now() where id = '\(owner.user)'")
            await #expect(throws: Problem.attachmentNotFound) { _ = try await open(owner.session) }
            try await database.sql("update users set suspended_at = null")
            try await database.store.deleteSession(owner.session, of: owner.user)
            await #expect(throws: Problem.attachmentNotFound) { _ = try await open(owner.session) }
        }
    }

    @Test("to a profile's picture is everyone's, to a thread's its people's, to a room's everyone's")
    func pictures() async throws {
        try await AttachmentDatabase.run { database in
            let store = database.store
            let (owner, invited, stranger) = (
                try await database.user(), try await database.user(), try await database.user()
            )
            let files = [
                try await database.attachment(of: owner), try await database.attachment(of: owner),
                try await database.attachment(of: owner),
            ]
            func change(_ member: String, _ file: AttachmentID) -> JSONText {
                JSONText(utf8: Array("{\"\(member)\":\"attachment:\(file)\"}".utf8))
            }
            _ = try await store.updateAccount(owner, changes: change("profile_image", files[0]), words: [])
            let group = try await database.thread(of: owner, [invited], invite: true)
            _ = try await store.updateThread(group, by: owner, changes: change("image", files[1]), roomKey: nil)
            let room = try await database.thread(.room, of: owner)
            _ = try await store.updateThread(room, by: owner, changes: change("image", files[2]), roomKey: nil)
            let refusals = { (user: UserID) in
                try await [
                    database.refusal(of: files[0], to: user), database.refusal(of: files[1], to: user),
                    database.refusal(of: files[2], to: user),
                ]
            }
            #expect(try await refusals(owner) == [nil, nil, nil])
            #expect(try await refusals(invited) == [nil, nil, nil])
            #expect(try await refusals(stranger) == [nil, .attachmentNotFound, nil])

            // The former picture is deleted with its last use.
            let none = JSONText(utf8: Array(#"{"profile_image":null}"#.utf8))
            _ = try await store.updateAccount(owner, changes: none, words: [])
            #expect(try await refusals(owner) == [.attachmentNotFound, nil, nil])
            for file in [files[0], files[1], try await database.attachment(of: owner, type: "text/plain"), .make()] {
                let refused = file == files[1] ? stranger : owner
                await #expect {
                    _ = try await store.updateAccount(refused, changes: change("profile_image", file), words: [])
                } throws: {
                    ($0 as? Problem)?.fields.map(\.field) == ["profile_image"]
                }
            }
            // One picture may be both.
            _ = try await store.updateAccount(owner, changes: change("profile_image", files[1]), words: [])
            _ = try await store.eraseAccount(owner, erasesMessages: false)
            #expect(try await database.refusal(of: files[1], to: invited) == nil)
            #expect(try await database.refusal(of: files[1], to: stranger) == .attachmentNotFound)
        }
    }
}
