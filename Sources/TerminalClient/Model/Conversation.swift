// A thread as the inbox shows it.
import Foundation
import Parley

enum ConversationFilter: Hashable, Sendable, CaseIterable {
    case active, unread, archived

    var title: String {
        switch self {
        case .active: "Conversations"
        case .unread: "Unread conversations"
        case .archived: "Archived conversations"
        }
    }

    func keeps(_ conversation: Conversation) -> Bool {
        let thread = conversation.thread
        return switch self {
        case .active: !thread.me.isArchived
        case .unread: !thread.me.isArchived && thread.unreadCount > 0
        case .archived: thread.me.isArchived
        }
    }

    /// The filter that follows when the user changes it.
    var next: Self {
        switch self {
        case .active: .unread
        case .unread: .archived
        case .archived: .active
        }
    }
}

/// An entry of the inbox.
struct Conversation: Hashable, Sendable, Identifiable {
    enum Unsent: Hashable, Sendable { case none, sending, failed }

    var thread: ThreadSummary
    var draft: String?
    var unsent = Unsent.none
    /// Whether the other person of a direct thread is online; nil if it is unknown.
    var isPeerOnline: Bool?

    var id: ThreadID { thread.id }

    /// The host app's labels and the user's own.
    var labels: [String] { thread.labels + thread.me.labels }
}

extension ThreadSummary {
    /// The title, or what stands for it. Clean.
    var shownTitle: String {
        let title = PlainText.name(self.title ?? peer?.name ?? "")
        return title.isEmpty ? (kind == .direct ? "Deleted user" : "Untitled group") : title
    }

    func isMuted(at now: Date) -> Bool { me.isMuted(at: now) }
}

extension Sender {
    var shownName: String { Self.shown(name) }

    static func shown(_ name: String) -> String {
        let name = PlainText.name(name)
        return name.isEmpty ? "Deleted user" : name
    }
}

extension User {
    /// "Ann (ann7)". Clean.
    var shownName: String {
        let name = Sender.shown(name)
        return username.map { "\(name) (@\(PlainText.line($0)))" } ?? name
    }
}
