// The line at the bottom of a timeline, where messages are written.
import Foundation
import Parley

struct Composer: Hashable, Sendable {
    enum Mode: Hashable, Sendable {
        case new
        case reply(Message)
        case edit(Message)
    }

    var field = TextField(hasLines: true)
    var mode = Mode.new
    /// Paths of files that go with the next message.
    var files: [String] = []

    /// The composer grows to this many lines.
    static let rowCountMax = 5

    mutating func clear() {
        field.set("")
        mode = .new
        files = []
    }

    mutating func beginEditing(_ message: Message) {
        mode = .edit(message)
        field.set(message.text ?? "")
    }

    /// Takes back an edit, a reply or the files. Returns false if there is nothing to take back.
    mutating func cancel() -> Bool {
        switch mode {
        case .edit:
            clear()
            return true
        case .reply:
            mode = .new
            return true
        case .new:
            guard !files.isEmpty else { return false }
            files = []
            return true
        }
    }

    /// What the text becomes at the press of Enter; nil if there is nothing to send.
    func action(members: [Member]) -> Action? {
        let text = field.text.trimmingCharacters(in: .whitespacesAndNewlines)
        switch mode {
        case .edit(let message): return text.isEmpty ? nil : .edit(message.id, text: text)
        case .new, .reply:
            guard !text.isEmpty || !files.isEmpty else { return nil }
            var draft = Draft(text: text, mentions: Self.mentions(in: text, of: members), files: files)
            if case .reply(let message) = mode { draft.replyTo = message.id }
            return .send(draft)
        }
    }

    /// The members whose usernames follow an "@".
    static func mentions(in text: String, of members: [Member]) -> [UserID] {
        let words = text.split { !($0.isLetter || $0.isNumber || "@_.-".contains($0)) }
        let names = Set(
            words.filter { $0.hasPrefix("@") }.map {
                $0.dropFirst().lowercased().trimmingCharacters(in: CharacterSet(charactersIn: ".-"))
            })
        return members.filter { member in member.user.username.map { names.contains($0.lowercased()) } ?? false }
            .map(\.id)
    }

    /// The text above the text; nil if nothing special is being done.
    var heading: String? {
        let files = self.files.map { PlainText.line(URL(filePath: $0).lastPathComponent) }
        let suffix = files.isEmpty ? "" : "With \(files.joined(separator: ", ")). "
        switch mode {
        case .new: return files.isEmpty ? nil : suffix + "Esc removes the files."
        case .reply(let message):
            let name = message.sender.map(\.shownName) ?? ""
            return suffix + "Reply to \(name): \(MessageText.line(message).cut(to: 30)) (Esc cancels)"
        case .edit: return "Edit the message (Esc cancels)"
        }
    }

    /// The rows that the text needs in this width.
    func rowCount(width: Int) -> Int { min(Self.rowCountMax, field.layout(width: width - 3).lines.count) }

    /// Draws the text into the rows, with the cursor if it is being written.
    func draw(on canvas: inout Canvas, rows: Range<Int>, hasCursor: Bool) {
        let layout = field.layout(width: canvas.size.columns - 3)
        let first = max(0, min(layout.row - rows.count + 1, layout.lines.count - rows.count))
        for (row, line) in zip(rows, layout.lines[max(0, first)...]) {
            canvas.write(row == rows.lowerBound ? ">" : " ", column: 1, row: row, style: .bold)
            canvas.write(line, column: 3, row: row)
        }
        if field.isEmpty, case .new = mode {
            canvas.write("Write a message", column: 3, row: rows.lowerBound, style: .dim)
        }
        if hasCursor { canvas.cursor = .init(column: 3 + layout.column, row: rows.lowerBound + layout.row - first) }
    }
}
