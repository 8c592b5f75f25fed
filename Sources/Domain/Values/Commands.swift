// Values of commands that several layers need.

/// The word that runs a command: `/` and 1–32 characters out of a–z, 0–9, `_` and `-`.
package struct CommandWord: Hashable, Sendable, TextField {
    package static let characterCountMax = 32

    /// The word begins with a slash.
    package let text: String

    package init(text: String) throws(Invalid) {
        let name = text.utf8.dropFirst()
        guard text.utf8.first == UInt8(ascii: "/"), (1...Self.characterCountMax).contains(name.count),
            name.allSatisfy(Self.isNameByte)
        else {
            throw Invalid("Must be `/` and 1 to \(Self.characterCountMax) characters out of a-z, 0-9, `_` and `-`.")
        }
        self.text = text
    }

    /// The name of the command's bot, unless the operator chooses one.
    package var name: String { String(text.dropFirst()) }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

/// The description of a command, which clients show next to its word: one line.
package struct CommandDescription: Hashable, Sendable, TextField {
    package static let characterCountMax = 256
    package let text: String

    package init(text: String) throws(Invalid) {
        self.text = try .singleLine(text, characterCountMax: Self.characterCountMax)
    }
}

/// Limits of commands.
package enum CommandLimits {
    /// Commands of an installation.
    package static let countMax = 100
    /// Messages of one command that wait for an answer. Further ones fail at once.
    package static let waitingCountMax = 1_000
    /// Requests under way for one command, of all nodes together.
    package static let runningCountMax = 8
    /// Requests under way from one node.
    package static let nodeRunningCountMax = 64
    /// How long a command has to answer.
    package static let answerTimeMax = Duration.seconds(15)
    /// The waits before the second try and those after it.
    package static let retryWaits: [Duration] = [.seconds(1), .seconds(5), .seconds(30)]
    /// How long a node has a run for one try. Longer than the answer and recording it take.
    package static let leaseSeconds = 30
}
