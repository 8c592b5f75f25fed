// What screens ask for, carried out.
import Foundation
import Parley

extension Chat {
    /// Carries out an action for the screen on top.
    func perform(_ action: Action) async {
        switch action {
        case .show(let destination): await present(destination)
        case .close: if let id = interface.top?.id, interface.stack.count > 1 { close(from: id) }
        case .open(let thread, let message): await present(TimelineScreen(thread, target: message))
        case .notice(let notice): interface.show(notice)
        case .answer(let prompt, let text): answer(prompt, text)
        case .complete(let path): complete(path)
        case .quit: quit()
        case .suspend: await suspend()
        case .redraw: redraw()
        case .signIn(let form): signIn(form)
        case .requestCode(let email): requestCode(email)
        case .signOut: attempt { [client] in await client.signOut() }
        case .search(let text): search(text)
        case .findPeople(let text): findPeople(text)
        case .markUnread(let thread, let seq):
            let thread = client.thread(thread)
            attempt("Marked as unread.") { try await thread.markUnread(from: seq) }
        case .change(let thread, let change): self.change(client.thread(thread), change)
        case .link(let attachment): link(attachment)
        case .save(let attachment, let path): save(attachment, path)
        case .showPicture(let attachment): await showPicture(attachment)
        case .showLabel(let label): interface.updateAll(InboxScreen.self) { $0.show(label) }
        case .retry(let id): if let message = outgoing[id] { attempt { try await message.retry() } }
        case .discard(let id): if let message = outgoing[id] { attempt { try await message.cancel() } }
        case .openDirect(let user): make { try await $0.openDirect(with: user) }
        case .createGroup(let title, let members):
            make { try await $0.createGroup(title: title, members: members) }
        case .joinRoom(let title): make { try await $0.joinRoom(title: title) }
        default: if let (id, screen) = topTimeline { perform(action, in: client.thread(screen.threadID), id) }
        }
    }

    private var topTimeline: (ScreenID, TimelineScreen)? {
        guard let (id, screen) = interface.top, let timeline = screen as? TimelineScreen else { return nil }
        return (id, timeline)
    }

    private func perform(_ action: Action, in thread: ChatThread, _ id: ScreenID) {
        switch action {
        case .send(let draft): send(draft, in: thread)
        case .edit(let message, let text): attempt { try await thread.edit(message, text: text) }
        case .delete(let message, let forEveryone):
            attempt { try await thread.delete(message, for: forEveryone ? .everyone : .me) }
        case .react(let message, let emoji, let isOn): react(emoji, isOn, to: message, in: thread)
        case .markRead(let seq): calls.add { try? await thread.markRead(through: seq) }
        case .typing: showTyping(in: thread, id)
        case .saveDraft(let text): saveDraft(text, in: thread.id)
        case .loadEarlier: grow(id) { try await $0.loadEarlier() }
        case .loadLater: grow(id) { try await $0.loadLater() }
        case .jumpToNewest: grow(id) { try await $0.jump(to: .newest) }
        default: break
        }
    }

    private func present(_ destination: Destination) async {
        switch destination {
        case .help: await present(HelpScreen())
        case .search(let thread): await present(SearchScreen(in: thread))
        case .members(let thread): await present(MembersScreen(thread))
        case .message(let message): await present(MessageScreen(message))
        case .people(let purpose): await present(PeopleScreen(purpose))
        case .outbox: await present(OutboxScreen())
        case .menu(let menu): await present(MenuScreen(menu))
        case .prompt(let prompt): await present(PromptScreen(prompt))
        }
    }

    // MARK: Messages

    private func send(_ draft: Draft, in thread: ChatThread) {
        // The draft of this text must not come back.
        drafts.set("", in: thread.id)
        flushDrafts()
        calls.add { [weak self] in
            do {
                try await thread.send(
                    .text(draft.text), attachments: draft.files.map { .file(URL(filePath: $0)) },
                    replyTo: draft.replyTo, mentions: draft.mentions)
            } catch {
                await self?.restore(draft, in: thread.id, error)
            }
        }
    }

    /// Puts a text back that could not be stored.
    private func restore(_ draft: Draft, in thread: ThreadID, _ error: any Error) {
        interface.updateAll(TimelineScreen.self) { screen in
            guard screen.threadID == thread, screen.composer.field.isEmpty else { return }
            screen.composer.field.set(draft.text)
        }
        interface.show(Notice(text: Self.words(error), isError: true))
        changed()
    }

    /// A short text may be sent before the others could see that it is being written.
    private func showTyping(in thread: ChatThread, _ id: ScreenID) {
        start(for: id) { chat in
            try? await Task.sleep(for: .milliseconds(300))
            var isTyping = false
            chat.interface.update(id, as: TimelineScreen.self) { isTyping = !$0.composer.field.isEmpty }
            if isTyping { try? await thread.sendTyping() }
        }
    }

    private func react(_ emoji: String, _ isOn: Bool, to message: MessageID, in thread: ChatThread) {
        attempt {
            if isOn { try await thread.react(emoji, to: message) } else { try await thread.unreact(emoji, to: message) }
        }
    }

    private func saveDraft(_ text: String, in thread: ThreadID) {
        let isFirst = drafts.texts.isEmpty
        drafts.set(text, in: thread)
        guard isFirst else { return }
        start(for: nil) { chat in
            try? await Task.sleep(for: .milliseconds(400))
            chat.flushDrafts()
        }
    }

    func flushDrafts() {
        for (id, text) in drafts.takeAll() {
            let thread = client.thread(id)
            calls.add { try? await thread.setDraft(text) }
        }
    }

    // MARK: Conversations

    func change(_ thread: ChatThread, _ change: ThreadChange) {
        attempt {
            switch change {
            case .mute(let isOn): try await thread.updateSettings(mute: .set(isOn ? .forever : nil))
            case .pin(let isOn): try await thread.updateSettings(isPinned: isOn)
            case .archive(let isOn): try await thread.updateSettings(isArchived: isOn)
            case .notify(let level): try await thread.updateSettings(notify: level)
            case .rename(let title): try await thread.update(title: .set(title))
            case .label(let labels): try await thread.updateSettings(labels: labels)
            case .join: try await thread.join()
            case .leave: try await thread.leave()
            case .add(let user): try await thread.add(user)
            case .remove(let user): try await thread.remove(user)
            }
        }
    }

    /// Makes or finds a thread and opens it above the inbox.
    private func make(_ body: @escaping @Sendable (ParleyClient) async throws -> ChatThread) {
        start(for: nil) { chat in
            do {
                let thread = try await body(chat.client)
                chat.forget(chat.interface.popToFirst())
                await chat.present(TimelineScreen(thread.id))
            } catch {
                chat.interface.show(Notice(text: Self.words(error), isError: true))
            }
            chat.changed()
        }
    }

    // MARK: Looking up

    /// Each key waits this long for the next one.
    private static let lookupPause = Duration.milliseconds(150)

    private func search(_ text: String) {
        guard let (id, screen) = interface.top, let search = screen as? SearchScreen else { return }
        lookUp(for: id) { chat in
            guard !text.isEmpty, (try? await Task.sleep(for: Self.lookupPause)) != nil else { return }
            for await search in chat.client.search(text, in: search.threadID) {
                guard !Task.isCancelled else { return }
                let titles = Self.titles(of: chat.conversations)
                let found = search.results.map { FoundMessage($0, titles: titles) }
                chat.interface.update(id, as: SearchScreen.self) { screen in
                    screen.results = found
                    screen.lookup.isSearching = search.state == .searching
                    screen.isOffline = search.state.error != nil
                }
                chat.changed()
            }
        }
    }

    private func findPeople(_ text: String) {
        guard let id = interface.top?.id else { return }
        lookUp(for: id) { chat in
            guard !text.isEmpty, (try? await Task.sleep(for: Self.lookupPause)) != nil else { return }
            do {
                let people = try await chat.client.people(matching: text)
                guard !Task.isCancelled else { return }
                let others = people.filter { [me = chat.interface.surroundings.me] in $0.id != me }
                chat.interface.update(id, as: PeopleScreen.self) { screen in
                    guard screen.lookup.text == text else { return }
                    screen.found = others
                    screen.lookup.isSearching = false
                }
            } catch {
                guard !Task.isCancelled else { return }
                chat.interface.update(id, as: PeopleScreen.self) { $0.lookup.isSearching = false }
                chat.interface.show(Notice(text: Self.words(error), isError: true))
            }
            chat.changed()
        }
    }

    // MARK: The account

    private func signIn(_ form: SignInForm) {
        guard let id = interface.top?.id else { return }
        start(for: nil) { chat in
            do {
                switch form {
                case .password(let username, let password):
                    try await chat.client.signIn(.password(username: username, password: password))
                case .register(let username, let password, let name, let invitation):
                    try await chat.client.register(
                        username: username, password: password, name: name, invitation: invitation)
                case .code(let email, let code): try await chat.client.signIn(.code(email: email, code: code))
                case .newPassword(let name, let code, let new):
                    try await chat.client.setPassword(of: name, code: code, to: new)
                case .token(let token): try await chat.client.signIn(.delegated(token: token))
                case .registerByMail(let email, let name, let invitation):
                    try await chat.client.register(email: email, name: name, invitation: invitation)
                    chat.interface.update(id, as: SignInScreen.self) { $0.awaitCode() }
                }
            } catch {
                chat.signInFailed(id, error)
            }
            chat.changed()
        }
    }

    private func requestCode(_ email: String) {
        guard let id = interface.top?.id else { return }
        start(for: nil) { chat in
            do {
                try await chat.client.requestCode(email: email)
                chat.interface.update(id, as: SignInScreen.self) { $0.awaitCode() }
            } catch {
                chat.signInFailed(id, error)
            }
            chat.changed()
        }
    }

    private func signInFailed(_ id: ScreenID, _ error: any Error) {
        interface.update(id, as: SignInScreen.self) { $0.fail(Self.words(error)) }
    }
}

extension FoundMessage {
    init(_ result: SearchResult, titles: [ThreadID: String]) {
        self.init(
            message: result.message, pieces: Self.pieces(ofSnippet: result.snippet),
            threadTitle: titles[result.message.threadID] ?? "another conversation")
    }
}
