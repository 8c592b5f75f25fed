// One conversation, as a page of an app shows it: its rows, and what is being written.
import Foundation
import Observation
import Parley

/// A thread's messages with the field to write the next one.
///
/// ```swift
/// ScrollView { ForEach(timeline.rows) { row in MessageRow(row).onAppear { timeline.didShow(row) } } }
///     .task { await timeline.run() }
/// TextField("Message", text: $timeline.draft).onSubmit { Task { await timeline.send() } }
/// ```
@MainActor
@Observable
public final class TimelineModel {
    /// Messages, unsent messages, the divider and holes, the oldest first.
    public private(set) var rows: [TimelineRow] = []
    /// The thread, with its title and counts; nil until the store has been read, and after the thread was left.
    public private(set) var thread: InboxRow?
    /// Who is typing now, besides the user. `name(of:)` has the names.
    public private(set) var typing: [UserID] = []
    /// Whether `rows` has been read from the store.
    public private(set) var isLoaded = false
    /// Whether the first message of the thread is among the rows.
    public private(set) var isAtStart = false
    /// Whether the newest message of the thread is among the rows.
    public private(set) var isAtEnd = false
    /// Whether older messages are being loaded.
    public private(set) var isLoadingEarlier = false

    /// What the user is writing. It is kept in the store, and a change tells the others that the user types.
    public var draft = "" {
        didSet { if draft != oldValue { drafts.send(draft) } }
    }
    /// Files to send with the next message.
    public var attachments: [OutgoingFile] = []
    /// The message that the next one answers.
    public var replyTo: MessageID?
    /// Why the last call failed. Set it to nil when the message has been read.
    public var error: ParleyError?

    @ObservationIgnored private let chat: ChatThread
    @ObservationIgnored private let timeline: Timeline
    @ObservationIgnored private let shared = SharedRun()
    @ObservationIgnored private let drafts = Newest<String>()
    @ObservationIgnored private let typed = Newest<Void>()
    @ObservationIgnored private let shown = Newest<Seq>()
    @ObservationIgnored private var shownSeq: Seq = 0

    /// Shows the thread from its first unread message on, or around another place.
    public init(_ chat: ChatThread, around anchor: TimelineAnchor = .firstUnread) {
        self.chat = chat
        timeline = chat.timeline(around: anchor)
    }

    /// Follows the thread until the task is cancelled. Several views may run the same model.
    public func run() async {
        await shared.join { [self] in
            await together(
                { await self.followRows() },
                { await self.chat.summary.follow { self.thread = $0 } },
                { await self.chat.typing.follow { self.typing = $0 } },
                { await self.keepDraft() },
                { await self.reportTyping() },
                { await self.markShown() })
        }
    }

    private func followRows() async {
        await timeline.follow { change in
            change.apply(to: &rows)
            isAtStart = timeline.isAtStart
            isAtEnd = timeline.isAtEnd
            isLoaded = true
        }
    }

    /// Shows the stored draft, then stores what is written. The newest text replaces those that were not stored yet.
    private func keepDraft() async {
        var stored = (try? await chat.draft) ?? ""
        if draft.isEmpty { draft = stored }
        for await text in drafts.values() where text != stored {
            // A full disk loses the draft in the store, not the one on the screen.
            try? await chat.setDraft(text)
            stored = text
            typed.send(())
        }
    }

    /// Tells the others that the user types, at most every 3 s and only while there is a draft.
    private func reportTyping() async {
        for await _ in typed.values() where !draft.isEmpty {
            try? await chat.sendTyping()
            try? await Task.sleep(for: .seconds(3))
        }
    }

    /// Marks read what was shown. Marks that were not sent yet are replaced by the newest one. A mark that fails is left to
    /// the next one.
    private func markShown() async {
        for await seq in shown.values() { try? await chat.markRead(through: seq) }
    }
}

extension TimelineModel {
    /// The name of a person who is in the conversation: the other one of a direct thread, or the sender of a row. Nil for a
    /// person who has written nothing that is among the rows.
    public func name(of user: UserID) -> String? {
        if let peer = thread?.thread.peer, peer.id == user { return peer.name }
        return rows.lazy.reversed().compactMap(\.message?.sender).first { $0.id == user }?.name
    }

    /// Marks the thread read up to this row. Call it when the row appears on the screen.
    public func didShow(_ row: TimelineRow) {
        guard case .message(let message, _) = row, message.seq > shownSeq else { return }
        shownSeq = message.seq
        shown.send(message.seq)
    }

    /// Loads older messages. Call it when the first row appears.
    public func loadEarlier(_ count: Int = 50) async {
        guard !isLoadingEarlier, !isAtStart else { return }
        isLoadingEarlier = true
        await perform { try await self.timeline.loadEarlier(count) }
        isLoadingEarlier = false
    }

    /// Loads newer messages, after a jump to an older place.
    public func loadLater(_ count: Int = 50) async {
        guard !isAtEnd else { return }
        await perform { try await self.timeline.loadLater(count) }
    }

    /// Shows another place of the thread.
    public func jump(to anchor: TimelineAnchor) async {
        await perform { try await self.timeline.jump(to: anchor) }
    }

    /// Puts the draft and the attachments into the outbox, and empties the field. A failure puts them back.
    public func send() async {
        let text = draft.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty || !attachments.isEmpty else { return }
        let written = (draft: draft, attachments: attachments, replyTo: replyTo)
        (draft, attachments, replyTo) = ("", [], nil)
        let isQueued = await perform {
            _ = try await self.chat.send(.text(text), attachments: written.attachments, replyTo: written.replyTo)
        }
        // Nothing may be written over what the user has typed meanwhile.
        guard !isQueued, draft.isEmpty, attachments.isEmpty else { return }
        (draft, attachments, replyTo) = written
    }

    /// Sends an unsent message again, at once.
    public func retry(_ message: OutgoingMessage) async {
        await perform { try await message.retry() }
    }

    /// Removes an unsent message.
    public func discard(_ message: OutgoingMessage) async {
        await perform { try await message.cancel() }
    }

    /// Adds a reaction, or removes it if the user has given it already.
    public func toggle(_ emoji: String, on message: Message) async {
        let isMine = message.reactions[emoji]?.me ?? false
        await perform {
            if isMine {
                try await self.chat.unreact(emoji, to: message.id)
            } else {
                try await self.chat.react(emoji, to: message.id)
            }
        }
    }

    /// Replaces the text of one's own message.
    public func edit(_ id: MessageID, text: String) async {
        await perform { try await self.chat.edit(id, text: text) }
    }

    /// Deletes a message, for everyone or only for the user.
    public func delete(_ id: MessageID, for whom: MessageCalls.Audience = .everyone) async {
        await perform { try await self.chat.delete(id, for: whom) }
    }

    /// Returns whether the call succeeded; `error` has the reason if not.
    @discardableResult
    private func perform(_ call: () async throws -> Void) async -> Bool {
        guard let failure = await failure(of: call) else { return true }
        error = failure
        return false
    }
}
