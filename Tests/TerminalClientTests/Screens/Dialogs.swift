// Signing in, searching, choosing people, menus and prompts.
import Foundation
import Parley
import Testing

@testable import TerminalClient

@Suite("Signing in", .timeLimit(.minutes(1)))
struct SigningIn {
    @Test("asks for a password without showing it, and waits for the answer")
    func password() {
        var screen = SignInScreen(server: "http://127.0.0.1:8080", username: "ann")
        _ = screen.type(" secret ")
        #expect(!screen.lines().joined().contains("secret"))
        // Spaces are part of a password.
        #expect(screen.press(.enter) == [.signIn(.password(username: "ann", password: " secret "))])
        #expect(screen.isBusy && screen.press(.enter).isEmpty)
        screen.fail("The username or the password is wrong.")
        #expect(screen.lines().joined().contains("is wrong"))
        // The password is typed again, the username is not.
        _ = screen.type("right")
        #expect(screen.press(.enter) == [.signIn(.password(username: "ann", password: "right"))])
    }

    @Test("moves to the field that is empty, and to the other ways to sign in")
    func ways() {
        var screen = SignInScreen(server: "x")
        #expect(screen.press(.enter).isEmpty)
        _ = screen.press(.function(2))
        _ = screen.type("ann")
        _ = screen.press(.enter)
        _ = screen.type("Ann")
        _ = screen.press(.enter)
        _ = screen.type("pw")
        var withInvitation = screen
        let form = SignInForm.register(username: "ann", password: "pw", name: "Ann", invitation: nil)
        #expect(screen.press(.enter) == [.signIn(form)])
        _ = withInvitation.press(.tab)
        _ = withInvitation.press(.paste("parleyinvite_x "))
        #expect(
            withInvitation.press(.enter) == [
                .signIn(.register(username: "ann", password: "pw", name: "Ann", invitation: "parleyinvite_x"))
            ])
    }

    @Test("has a code mailed, then accepts it")
    func code() {
        var screen = SignInScreen(server: "x")
        _ = screen.press(.function(2), .function(2))
        #expect(screen.way == .code)
        _ = screen.type("ann@example.org")
        #expect(screen.press(.enter) == [.requestCode(email: "ann@example.org")])
        screen.awaitCode()
        _ = screen.type("123456")
        #expect(screen.press(.enter) == [.signIn(.code(email: "ann@example.org", code: "123456"))])
    }

    @Test("shows only the ways that the service has, once the service has answered")
    func offered() throws {
        func service(_ ways: [SignInWay], _ registration: RegistrationRule) throws -> ServiceInfo {
            let words = ways.map { "\"\($0)\"" }.joined(separator: ",")
            let text = """
                {"name": "Book Club", "version": "0.1.0", "registration": "\(registration)", "sign_in": [\(words)],
                 "mail": false, "push": {"apns": false, "fcm": false, "webpush": false}, "edit_history": false,
                 "limits": {"text_bytes": 1, "payload_bytes": 1, "attachment_bytes": 1, "attachments_per_message": 1,
                 "title_characters": 1}}
                """
            return try JSONDecoder().decode(ServiceInfo.self, from: Data(text.utf8))
        }
        func ways(_ screen: SignInScreen) -> [SignInScreen.Way] {
            var screen = screen
            return SignInScreen.Way.allCases.map { _ in
                defer { _ = screen.press(.function(2)) }
                return screen.way
            }
        }
        var screen = SignInScreen(server: "x")
        #expect(ways(screen) == SignInScreen.Way.allCases)
        #expect(screen.hints.contains(Hint("F2", "another way (1/6)")))
        _ = screen.press(.function(2))
        #expect(screen.hints.contains(Hint("F2", "another way (2/6)")))
        screen = SignInScreen(server: "x")
        try screen.offer(service([.password, .token], .open))
        #expect(ways(screen) == [.password, .register, .newPassword, .token, .password, .register])
        #expect(screen.lines().joined().contains("Book Club"))
        try screen.offer(service([.password], .closed))
        #expect(Set(ways(screen)) == [.password, .newPassword])
        var single = SignInScreen(server: "x")
        try single.offer(service([.token], .closed))
        #expect(!single.hints.contains { $0.key == "F2" })
        // A way that is shown and turns out to be missing makes room for the first one that is there.
        screen = SignInScreen(server: "x")
        _ = screen.press(.function(2))
        try screen.offer(service([.password, .code], .closed))
        #expect(ways(screen).prefix(2) == [.password, .code])
    }

    @Test("sets a forgotten password by a mailed code, or by the operator's")
    func newPassword() {
        var screen = SignInScreen(server: "x")
        for _ in 0..<4 { _ = screen.press(.function(2)) }
        #expect(screen.way == .newPassword)
        var named = screen
        _ = screen.type("ann@example.org")
        #expect(screen.press(.enter) == [.requestCode(email: "ann@example.org")])
        screen.awaitCode()
        _ = screen.type("123456")
        _ = screen.press(.enter)
        _ = screen.type("new one ")
        #expect(!screen.lines().joined().contains("new one "))
        #expect(screen.press(.enter) == [.signIn(.newPassword(of: "ann@example.org", code: "123456", to: "new one "))])
        for text in ["ann", "K7QF-2M9X", "new one"] {
            _ = named.type(text)
            if text != "new one" { #expect(named.press(.enter).isEmpty) }
        }
        #expect(named.press(.enter) == [.signIn(.newPassword(of: "ann", code: "K7QF-2M9X", to: "new one"))])
    }

    @Test("accepts a token of the host's own server")
    func token() {
        var screen = SignInScreen(server: "x")
        for _ in 0..<5 { _ = screen.press(.function(2)) }
        _ = screen.press(.paste("eyJ.x.y\n"))
        #expect(screen.press(.enter) == [.signIn(.token("eyJ.x.y"))])
    }
}

@Suite("Dialogs", .timeLimit(.minutes(1)))
struct Dialogs {
    @Test("a search marks the words that match, and opens the message in its place")
    func search() {
        #expect(
            FoundMessage.pieces(ofSnippet: "a &lt;b&gt; <mark>tea</mark> &amp;lt; <mark>te</mark>") == [
                .init(text: "a <b> ", isMatch: false), .init(text: "tea", isMatch: true),
                .init(text: " &lt; ", isMatch: false), .init(text: "te", isMatch: true),
            ])
        var screen = SearchScreen(in: nil)
        #expect(screen.type("te").last == .search("te"))
        #expect(screen.lines()[2].contains("Searching…"))
        screen.lookup.isSearching = false
        #expect(screen.lines()[2].contains("Nothing was found."))
        screen.isOffline = true
        #expect(screen.lines()[2].contains("The server did not answer."))
        screen.results = [3, 4].map { seq in
            FoundMessage(
                message: message(seq, "x"), pieces: FoundMessage.pieces(ofSnippet: "some <mark>tea</mark>"),
                threadTitle: "Kitchen")
        }
        #expect(screen.lines()[2].contains("Bob in Kitchen") && screen.lines()[3].contains("some tea"))
        #expect(screen.press(.down, .enter) == [.open(thread, at: "message-4")])
    }

    @Test("a group is created from a title and people, in the order in which they were chosen")
    func group() {
        var title = PromptScreen(.group)
        _ = title.type("Tea")
        #expect(title.press(.enter) == [.show(.people(.group(title: "Tea")))])
        var people = PeopleScreen(.group(title: "Tea"))
        #expect(people.type("b").last == .findPeople("b"))
        people.found = [User(id: bob, username: "bob", name: "Bob")]
        #expect(people.lines()[3].contains("Bob (@bob)"))
        _ = people.press(.enter)
        #expect(people.lines()[1].contains("Chosen: Bob (@bob)"))
        #expect(people.press(.enter) == [.createGroup(title: "Tea", members: [bob])])
    }

    @Test("a menu is chosen by its letter or by the cursor")
    func menu() {
        var screen = MenuScreen(.newConversation)
        #expect(screen.press(.character("r")) == [.close, .show(.prompt(.room))])
        #expect(screen.press(.down, .enter) == [.close, .show(.prompt(.group))])
        #expect(screen.press(.escape) == [.close])
        var no = MenuScreen(.signOut)
        #expect(no.press(.character("n")) == [.close])
    }

    @Test("a reaction of one's own can be removed")
    func reactions() {
        var reacted = message(1, "x")
        reacted.reactions = ["👍": Reaction(count: 1, me: true), "🦊": Reaction(count: 2, me: true)]
        let actions = Menu.react(reacted).items.map(\.action)
        #expect(actions.contains(.react(reacted.id, emoji: "👍", isOn: false)))
        #expect(actions.contains(.react(reacted.id, emoji: "🎉", isOn: true)))
        #expect(actions.contains(.react(reacted.id, emoji: "🦊", isOn: false)))
    }

    @Test("the details of a message name who reacted, and show earlier versions")
    func details() {
        var reacted = message(1, "now **bold**")
        reacted.reactions = ["👍": Reaction(count: 4, me: true), "🦊": Reaction(count: 1)]
        reacted.editedAt = noon
        var screen = MessageScreen(reacted)
        #expect(screen.lines().count { $0.contains("Loading…") } == 3)
        screen.people = [
            "👍": [User(id: ann, name: "Ann"), User(id: bob, name: "Bob")], "🦊": [User(id: bob, name: "")],
        ]
        let earlier = Date(timeInterval: -86_400, since: noon)
        screen.versions = [.init(text: "before `\u{1b}[2J`", writtenAt: earlier)]
        let lines = screen.lines()
        #expect(lines.contains("  👍 4  You, Bob and 2 more") && lines.contains("  🦊 1  Deleted user"))
        #expect(lines.contains("  now bold") && lines.contains("  before ␛[2J"))
        #expect(lines.contains("  Sunday, 22 November 2026, 14:00"))
        screen = MessageScreen(message(2, "plain"))
        #expect(
            screen.lines().contains("  Nobody has reacted.") && screen.lines().contains("  The message was not edited.")
        )
        screen = MessageScreen(reacted)
        screen.failure = "This service does not show earlier versions."
        #expect(screen.lines().contains("  This service does not show earlier versions."))
        #expect(screen.press(.escape) == [.close])
    }

    @Test("labels are written with commas, and none removes them")
    func labels() {
        var screen = PromptScreen(.labels(thread, ["work", "2026"]))
        _ = screen.type(", shop ")
        #expect(screen.press(.enter) == [.close, .answer(.labels(thread, ["work", "2026"]), "work, 2026, shop")])
        #expect(Prompt.labels(in: " a,b c ,, d") == ["a", "b c", "d"])
        var none = PromptScreen(.labels(thread, []))
        #expect(none.press(.enter) == [.close, .answer(.labels(thread, []), "")])
    }

    @Test("a file of somebody else is saved under a harmless name")
    func saving() {
        let attachment = Attachment(id: "a", name: "../.bashrc", contentType: "x", size: 1, hasThumbnail: false)
        var screen = PromptScreen(.save(attachment))
        #expect(screen.press(.enter) == [.close, .answer(.save(attachment), "_.bashrc")])
    }

    @Test("paths are completed as far as they are clear")
    func paths() {
        let files = ["/home/ann/": ["photo1.jpg", "photo2.jpg", "notes/", ".hidden"]]
        func complete(_ path: String) -> String {
            PathCompletion.complete(path, home: "/home/ann") { files[$0] ?? [] }
        }
        #expect(complete("~/ph") == "/home/ann/photo" && complete("/home/ann/n") == "/home/ann/notes/")
        #expect(complete("/nowhere/x") == "/nowhere/x" && complete("~/.h") == "/home/ann/.hidden")
    }

    @Test("members can be added and removed by those who may")
    func members() {
        var screen = MembersScreen(thread)
        screen.thread = conversation(me: .init(role: .owner)).thread
        screen.thread?.kind = .group
        screen.members = [
            Member(user: User(id: ann, name: "Ann"), role: .owner),
            Member(user: User(id: bob, name: "Bob"), role: .member),
        ]
        #expect(screen.lines()[0].contains("Ann, you") && screen.lines()[0].hasSuffix("owner"))
        #expect(screen.press(.character("x")).isEmpty, "oneself")
        #expect(screen.press(.down, .enter) == [.openDirect(bob)])
        #expect(screen.press(.character("a")) == [.show(.people(.add(thread)))])
        if case .show(.menu(let menu))? = screen.press(.character("x")).first {
            #expect(menu.items[0].action == .change(thread, .remove(bob)))
        } else {
            Issue.record("no question")
        }
    }
}
