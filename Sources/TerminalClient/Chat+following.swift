// What the client's lists and values become on the screens.
import Foundation
import Parley

extension Chat {
    /// Follows everything that does not belong to one screen, from the start to the end of the program.
    func followClient() {
        follow(client.status, for: nil) { $0.show($1) }
        follow(client.account, for: nil) { chat, account in
            chat.interface.accountName = account?.user.name
            chat.interface.surroundings.me = account?.id
        }
        follow(client.unreadTotal, for: nil) { $0.interface.unreadTotal = $1 }
        start(for: nil) { chat in
            var rows: [InboxRow] = []
            for await change in chat.client.inbox(.all) {
                change.apply(to: &rows)
                chat.conversations = rows.map(Conversation.init)
                chat.showConversations()
            }
        }
        start(for: nil) { chat in
            var messages: [OutgoingMessage] = []
            for await change in chat.client.outbox() {
                change.apply(to: &messages)
                chat.outgoing = Dictionary(messages.map { ($0.id, $0) }) { $1 }
                let unsent = messages.compactMap(UnsentMessage.init)
                chat.interface.updateAll(InboxScreen.self) { $0.unsentCount = unsent.count }
                chat.interface.updateAll(OutboxScreen.self) { $0.messages = unsent }
                chat.changed()
            }
        }
        // The offline banner counts the seconds.
        start(for: nil) { chat in
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(1))
                if case .offline = chat.interface.surroundings.connection { chat.changed() }
            }
        }
    }

    private func showConversations() {
        let conversations = conversations
        interface.updateAll(InboxScreen.self) { $0.conversations = conversations }
        interface.updateAll(OutboxScreen.self) { $0.titles = Self.titles(of: conversations) }
        changed()
    }

    static func titles(of conversations: [Conversation]) -> [ThreadID: String] {
        Dictionary(conversations.map { ($0.id, $0.thread.shownTitle) }) { $1 }
    }

    /// Shows the connection, and the screen that belongs to it.
    private func show(_ status: ConnectionStatus) {
        let connection = Connection(status)
        interface.surroundings.connection = connection
        let isSigningIn = interface.stack.first?.screen is SignInScreen
        if case .signedOut(let reason) = connection {
            guard !isSigningIn else { return }
            closeAll()
            let screen = interface.push(
                SignInScreen(
                    server: settings.server.absoluteString, username: settings.username ?? "", message: reason))
            start(for: screen) { chat in
                // Without an answer all ways are shown, and the service refuses those that it does not have.
                guard let service = try? await chat.client.call(.service.get()) else { return }
                chat.interface.update(screen, as: SignInScreen.self) { $0.offer(service) }
                chat.changed()
            }
        } else if isSigningIn || interface.stack.isEmpty {
            closeAll()
            var inbox = InboxScreen()
            inbox.conversations = conversations.isEmpty ? nil : conversations
            inbox.unsentCount = outgoing.count
            interface.push(inbox)
        }
        if case .live = status { interface.updateAll(InboxScreen.self) { $0.conversations = $0.conversations ?? [] } }
    }

    private func closeAll() {
        guard let first = interface.stack.first?.id else { return }
        forget(interface.pop(first))
    }

    // MARK: Screens

    /// Puts a screen on top and lets it follow what it shows.
    func present(_ screen: any Screen) async {
        let id = interface.push(screen)
        switch screen {
        case let timeline as TimelineScreen: await follow(timeline, id)
        case let members as MembersScreen:
            let thread = client.thread(members.threadID)
            follow(thread.summary, for: id) { chat, row in
                chat.interface.update(id, as: MembersScreen.self) { $0.thread = row?.thread }
            }
            followMembers(of: thread, id, MembersScreen.self) { $0.members = $1 }
        case let details as MessageScreen: load(details.message, for: id)
        case is OutboxScreen:
            let unsent = outgoing.values.sorted { $0.createdAt < $1.createdAt }.compactMap(UnsentMessage.init)
            let titles = Self.titles(of: conversations)
            interface.update(id, as: OutboxScreen.self) {
                $0.messages = unsent
                $0.titles = titles
            }
        default: break
        }
        changed()
    }

    private func followMembers<Kind: Screen>(
        of thread: ChatThread, _ id: ScreenID, _ kind: Kind.Type,
        _ set: @escaping @Sendable (inout Kind, [Member]) -> Void
    ) {
        start(for: id) { chat in
            var members: [Member] = []
            for await change in thread.members() {
                change.apply(to: &members)
                let shown = members
                chat.interface.update(id, as: kind) { set(&$0, shown) }
                chat.changed()
            }
        }
    }

    private func follow(_ screen: TimelineScreen, _ id: ScreenID) async {
        let thread = client.thread(screen.threadID)
        let timeline = thread.timeline(around: screen.target.map { .message($0) } ?? .firstUnread)
        timelines[id] = timeline
        let draft = (try? await thread.draft) ?? ""
        interface.update(id, as: TimelineScreen.self) { $0.composer.field.set(draft) }
        follow(thread.summary, for: id) { chat, row in
            // The user has left the conversation, here or on another device.
            if row == nil, chat.hasConversation(id) { return chat.close(from: id) }
            chat.interface.update(id, as: TimelineScreen.self) { $0.conversation = row.map(Conversation.init) }
        }
        start(for: id) { chat in
            var rows: [TimelineRow] = []
            for await change in timeline {
                change.apply(to: &rows)
                let entries = rows.compactMap(TimelineEntry.init)
                chat.interface.update(id, as: TimelineScreen.self) { screen in
                    screen.entries = entries
                    screen.atStart = timeline.isAtStart
                    screen.atEnd = timeline.isAtEnd
                }
                chat.changed()
            }
        }
        follow(thread.typing, for: id) { chat, users in
            chat.interface.update(id, as: TimelineScreen.self) { $0.typists = users }
        }
        followMembers(of: thread, id, TimelineScreen.self) { $0.members = $1 }
    }

    /// Asks who reacted with what, and for the earlier versions.
    private func load(_ message: Message, for id: ScreenID) {
        start(for: id) { chat in
            let countMax = MessageScreen.countMax
            do {
                for emoji in MessageScreen(message).emojis {
                    let page = try await chat.client.call(
                        .messages.reactions(emoji, to: message.id, in: message.threadID, limit: countMax))
                    chat.interface.update(id, as: MessageScreen.self) { $0.people[emoji] = page.users }
                    chat.changed()
                }
                guard message.editedAt != nil else { return }
                let page = try await chat.client.call(
                    .messages.edits(of: message.id, in: message.threadID, limit: countMax))
                let versions = page.edits.map {
                    MessageScreen.Version(text: $0.payload["text"]?.string ?? "", writtenAt: $0.writtenAt)
                }
                chat.interface.update(id, as: MessageScreen.self) { $0.versions = versions }
            } catch {
                let problem = (error as? ParleyError)?.problem
                // The service has no such call while its history is off.
                let words =
                    problem?.code == .notFound ? "This service does not show earlier versions." : Self.words(error)
                chat.interface.update(id, as: MessageScreen.self) { $0.failure = words }
            }
            chat.changed()
        }
    }

    private func hasConversation(_ id: ScreenID) -> Bool {
        var found = false
        interface.update(id, as: TimelineScreen.self) { found = $0.conversation != nil }
        return found
    }

    /// Closes a screen and all above it.
    func close(from id: ScreenID) { forget(interface.pop(id)) }

    // MARK: Growing timelines

    func grow(_ id: ScreenID, _ load: @escaping @Sendable (Timeline) async throws -> Void) {
        guard let timeline = timelines[id] else { return }
        start(for: id) { chat in
            do {
                try await load(timeline)
            } catch {
                // The window shows a hole until the server answers; asking at once again would be no use.
                try? await Task.sleep(for: .seconds(2))
            }
            chat.interface.update(id, as: TimelineScreen.self) { screen in
                screen.isLoadingEarlier = false
                screen.isLoadingLater = false
                screen.atStart = timeline.isAtStart
                screen.atEnd = timeline.isAtEnd
            }
            chat.changed()
        }
    }
}
