// What screens ask for. Screens are pure: they return actions, and `Chat` carries them out for the screen on top.
import Foundation
import Parley

enum Action: Hashable, Sendable {
    // Moving between screens.
    case show(Destination)
    /// Closes the screen on top.
    case close
    /// Opens a thread, at a message or at the first unread one.
    case open(ThreadID, at: MessageID? = nil)
    case notice(Notice)
    /// The answer to a prompt, for the screen below it.
    case answer(Prompt, String)
    case complete(path: String)

    // The program.
    case quit
    case suspend
    case redraw

    // The account.
    case signIn(SignInForm)
    case requestCode(email: String)
    case signOut

    // Lists.
    case loadEarlier
    case loadLater
    case jumpToNewest
    case search(String)
    case findPeople(String)

    // A thread.
    case send(Draft)
    case edit(MessageID, text: String)
    case delete(MessageID, forEveryone: Bool)
    case react(MessageID, emoji: String, isOn: Bool)
    case markRead(Seq)
    case markUnread(ThreadID, from: Seq)
    case typing
    case saveDraft(String)
    case change(ThreadID, ThreadChange)
    case link(AttachmentID)
    case save(Attachment, path: String)
    case showPicture(Attachment)
    /// Shows the threads with a label; all of them without one.
    case showLabel(String?)

    // The outbox.
    case retry(MessageID)
    case discard(MessageID)

    // New conversations.
    case openDirect(UserID)
    case createGroup(title: String, members: [UserID])
    case joinRoom(title: String)
}

/// A screen that another one leads to.
enum Destination: Hashable, Sendable {
    case help
    case search(ThreadID?)
    case members(ThreadID)
    case message(Message)
    case people(PeopleScreen.Purpose)
    case outbox
    case menu(Menu)
    case prompt(Prompt)
}

/// A change of a thread, or of the user's own view of it.
enum ThreadChange: Hashable, Sendable {
    case mute(Bool)
    case pin(Bool)
    case archive(Bool)
    case notify(AlertLevel)
    case rename(String)
    /// The user's own labels, all of them.
    case label([String])
    case join
    case leave
    case add(UserID)
    case remove(UserID)
}

/// A message before it is in the outbox.
struct Draft: Hashable, Sendable {
    var text: String
    var replyTo: MessageID?
    var mentions: [UserID] = []
    /// Paths of files.
    var files: [String] = []
}

/// What the sign-in screen asks for.
enum SignInForm: Hashable, Sendable {
    case password(username: String, password: String)
    case register(username: String, password: String, name: String, invitation: String?)
    case code(email: String, code: String)
    case registerByMail(email: String, name: String, invitation: String?)
    case newPassword(of: String, code: String, to: String)
    case token(String)
}

/// One line about what has happened. It disappears with the next key.
struct Notice: Hashable, Sendable {
    var text: String
    var isError = false
}
