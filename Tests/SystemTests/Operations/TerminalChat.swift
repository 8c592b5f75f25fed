// `parley chat` in real terminals, against nodes that are killed.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite(
        "parley chat",
        .enabled(if: Tool.permits(Tmux.executable != nil), "tmux is not installed: .ci/deps test installs it"),
        .timeLimit(.minutes(5)))
    struct TerminalChat {
        private let tmux: Tmux
        private let nodes: RestartableNodes

        init() async throws {
            tmux = try await Tmux.start()
            nodes = try await RestartableNodes.start(2, on: try await TestCluster.shared().createDatabase())
        }

        /// `parley chat` as the shell runs it.
        private func command(_ name: String, at address: Address, _ flags: String = "") -> String {
            "XDG_DATA_HOME=\(tmux.directory)/\(name) \(Parley.executable) chat --server \(address) \(flags)"
        }

        /// Two people in two terminals, each at a node of its own, signed in.
        private func twoPeople() async throws -> (ann: Tmux.Pane, bob: Tmux.Pane, bobName: String) {
            let person = try await Connection(nodes.addresses[1]).register("Bob")
            let ann = try await tmux.open("ann", command("ann", at: nodes.addresses[0]))
            let bob = try await tmux.open(
                "bob", command("bob", at: nodes.addresses[1], "--username \(person.username)"))
            try await ann.waits(for: "Sign in with a password", "signed out")
            try await ann.press("F2")
            for value in [unique("ann"), "Ann"] {
                try await ann.type(value)
                try await ann.press("Enter")
            }
            try await ann.type("a river of tea")
            let secret = try await ann.waits(for: "Create an account", "••••")
            #expect(!secret.contains("river"))
            try await ann.press("Enter")
            try await bob.waits(for: person.username)
            try await bob.type("wrong password")
            try await bob.press("Enter")
            try await bob.waits(for: "the password is wrong")
            try await bob.type(person.password)
            try await bob.press("Enter")
            try await ann.waits(for: "There are no conversations yet", "online")
            try await bob.waits(for: "There are no conversations yet", "online")
            return (ann, bob, person.username)
        }

        /// Ann finds Bob, writes, and Bob opens the conversation.
        private func conversation() async throws -> (ann: Tmux.Pane, bob: Tmux.Pane) {
            let (ann, bob, bobName) = try await twoPeople()
            try await ann.press("n", "d")
            try await ann.type(bobName)
            try await ann.waits(for: "Bob (@\(bobName))")
            try await ann.press("Enter")
            try await ann.waits(for: "Write a message")
            try await ann.type("Hello Bob, 漢字 and 👍")
            try await ann.press("Enter")
            try await bob.waits(for: "> Ann", "1 Hello Bob, 漢字 and 👍", "1 unread")
            try await bob.press("Enter")
            try await bob.waits(for: "New messages", "Hello Bob, 漢字 and 👍", "Write a message")
            return (ann, bob)
        }

        @Test("two people find each other, write, and see what is read and who is typing")
        func conversing() async throws {
            let (ann, bob) = try await conversation()
            try await ann.waits(for: "read")
            try await bob.type("Fine")
            try await ann.waits(for: "Bob is typing…")
            try await bob.press("Enter")
            try await ann.waits(for: "Fine", without: "Bob is typing…")
            // A paste with a line break is one message.
            try await bob.paste("two\nlines")
            try await bob.press("Enter")
            try await ann.waits(for: "  two\n        lines\n")
            // The last own message, edited.
            try await bob.press("Up")
            try await bob.type(", edited")
            try await bob.press("Enter")
            try await ann.waits(for: "lines, edited (edited)")
            try await ann.press("Tab", "+", "1")
            try await bob.waits(for: "👍 1")
            try await bob.press("F1")
            try await bob.waits(for: "Everywhere", "Ctrl-Z", "Conversations")
            try await bob.press("Escape")
            try await bob.press("C-f")
            try await bob.type("hel")
            try await bob.waits(for: "> Ann", "Hello Bob, 漢字")
            try await bob.press("Enter")
            try await bob.waits(for: "▌", "r reply")
            try await bob.resize(columns: 50, rows: 12)
            try await bob.waits(for: "▌", "Hello Bob, 漢字 and 👍", "d delete", without: "Esc write")
            try await bob.press("C-c")
            try await bob.waits(for: "ended with status 0")
        }

        @Test("messages written offline are sent once and in order after the node has restarted")
        func offline() async throws {
            let (ann, bob) = try await conversation()
            // Without a mark, Ann's first message would show "sent" while she is offline.
            try await ann.waits(for: "read")
            try await nodes.kill(0)
            try await ann.waits(for: "Offline.", "Next try in")
            for text in ["first", "second", "third"] {
                try await ann.type(text)
                try await ann.press("Enter")
            }
            try await ann.waits(for: "third", "waiting", without: "sent\n")
            try await bob.type("from the other node")
            try await bob.press("Enter")
            try await bob.waits(for: "from the other node", "sent")
            // What waits survives the program, too.
            try await ann.press("C-c")
            try await ann.waits(for: "ended with status 0")
            let again = try await tmux.open("again", command("ann", at: nodes.addresses[0]))
            try await again.waits(for: "offline", "Bob", "Sending…")
            try await again.press("Enter")
            try await again.waits(for: "Hello Bob, 漢字 and 👍", "third", "waiting")
            try await nodes.restart(0)
            try await again.waits(for: "from the other node", "online", without: "waiting", within: .seconds(60))
            let screen = try await bob.waits(for: "third")
            let texts = screen.split(separator: "\n").compactMap { line in
                ["first", "second", "third"].first { line.hasSuffix("  \($0)") }
            }
            #expect(texts == ["first", "second", "third"])
        }

        @Test("restores the terminal when the shell stops it, and sets it up again")
        func stopping() async throws {
            let shell = try await tmux.open("shell", "PS1='shell> ' bash --norc --noprofile -i", columns: 100)
            try await shell.waits(for: "shell>")
            try await shell.type(command("shell", at: nodes.addresses[0]))
            try await shell.press("Enter")
            try await shell.waits(for: "Sign in with a password")
            try await shell.press("C-z")
            try await shell.waits(for: "Stopped", without: "Sign in with a password")
            try await shell.type("fg")
            try await shell.press("Enter")
            try await shell.waits(for: "Sign in with a password", without: "Stopped")
            try await shell.type("x")
            try await shell.waits(for: "Username   x")
        }

        @Test("restores the terminal when it is killed or crashes", arguments: [(SIGTERM, 143), (SIGSEGV, 139)])
        func ending(signal: Int32, status: Int) async throws {
            let modes = "stty -a | tr ' ;' '\\n\\n' | grep -x -e icanon -e echo | tr '\\n' ' '"
            let line = command("killed", at: nodes.addresses[0]) + "; s=$?; \(modes); (exit $s)"
            let pane = try await tmux.open("killed", line)
            try await pane.waits(for: "Sign in with a password")
            kill(try await pane.program, signal)
            try await pane.waits(for: "icanon echo ended with status \(status)", without: "Sign in with a password")
        }

        @Test("without a terminal, and with wrong flags, it ends with one sentence each")
        func refusing() async throws {
            let settings = ["HOME": tmux.directory]
            let piped = try await Parley.run(["chat"], settings: settings)
            #expect(piped.exit == .status(1) && piped.errors.contains("needs a terminal"))
            let wrong = try await Parley.run(["chat", "--server", "ftp://x", "--password", "x"], settings: settings)
            #expect(wrong.exit == .status(2))
            #expect(wrong.errors.contains("2 mistakes") && wrong.errors.contains("https://host or http://host:port"))
        }

        @Test("a second program on one store is refused, and the store is private")
        func oneStore() async throws {
            let (ann, _, _) = try await twoPeople()
            let second = try await tmux.open("second", command("ann", at: nodes.addresses[0]))
            try await second.waits(for: "Another client has opened the store", "ended with status 1")
            let store = tmux.directory + "/ann/parley/chat/127.0.0.1_\(nodes.addresses[0].port)/default"
            let mode = try FileManager.default.attributesOfItem(atPath: store)[.posixPermissions] as? Int
            #expect(mode == 0o700)
            // Signing out removes the messages.
            try await ann.press("S", "y")
            try await ann.waits(for: "Sign in with a password", "signed out")
        }
    }
}
